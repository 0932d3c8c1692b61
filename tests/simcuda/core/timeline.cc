#include "core/timeline.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "core/api_call.h"
#include "core/capture.h"
#include "core/clock.h"
#include "core/durations.h"
#include "core/host_functions.h"
#include "core/knobs.h"
#include "core/status.h"
#include "core/truth.h"

namespace simcuda {
namespace {

// What a host function takes on the stream's clock: how long it really runs is not known when the
// work after it is placed.
constexpr uint64_t kHostFunctionNs = 1'000;

// Rates of an H200 on PCIe 5 with NVLink, rounded; the fixed part is a copy's cost at a few bytes.
uint64_t CopyNs(const DeviceOperation& copy) {
  uint64_t bytes_per_ns = copy.direction == kDeviceToDevice ? 2'000
                          : copy.direction == kPeer         ? 300
                                                            : 25;
  return 1'200 + copy.bytes / bytes_per_ns;
}

uint64_t DurationNs(const Work& work) {
  switch (work.type) {
    case NodeType::kKernel:
      if (work.kernel->duration_is_argument) return work.duration_ns;
      return NextDuration(work.kernel->name, work.kernel->plain);
    case NodeType::kMemcpy:
      return CopyNs(work.operation);
    case NodeType::kMemset:
      return 800 + work.operation.bytes / 1'000;
    case NodeType::kHost:
      return kHostFunctionNs;
    case NodeType::kGraph:
    case NodeType::kEmpty:
      break;
  }
  return 0;
}

// The legacy default stream waits for every blocking stream of its context, and they for it.
uint64_t EarliestNs(const Stream& stream, uint64_t from_ns) {
  uint64_t earliest_ns = std::max(from_ns, stream.ready_ns);
  const Context& context = *stream.context;
  if (&stream == context.legacy) {
    for (const Stream* other : context.streams) {
      if ((other->flags & kNonBlocking) == 0) earliest_ns = std::max(earliest_ns, other->ready_ns);
    }
  } else if ((stream.flags & kNonBlocking) == 0) {
    earliest_ns = std::max(earliest_ns, context.legacy->ready_ns);
  }
  return earliest_ns;
}

// Work reaches the device this long after the call that submits it.
uint64_t ArrivalNs() { return NowNs() + GetKnobs().launch_latency_ns; }

DeviceOperation Identified(const Stream& stream, DeviceOperation operation) {
  operation.correlation = CurrentCorrelation();
  operation.device = static_cast<uint32_t>(stream.context->device);
  operation.context = stream.context->id;
  operation.stream = stream.id;
  operation.thread = ThreadId();
  return operation;
}

// What CUPTI does at the launch of a graph that was made ready while launches of graphs were not
// traced, where they are traced now: seen of 13.0 with driver 580.159.
void MeetUntracedGraph() {
  if (!GetKnobs().untraced_graphs_crash) return;
  fputs("simcuda: CUPTI's crash: this graph was instantiated before GRAPH_TRACE was on\n", stderr);
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

}  // namespace

uint64_t ReadyNs(const Stream& stream) {
  return &stream == stream.context->legacy ? EarliestNs(stream, 0) : stream.ready_ns;
}

void Publish(const DeviceOperation& operation) {
  if (TruthOpen()) WriteOperation(operation);
  auto notify = simcuda_core()->tools.operation.load(std::memory_order_acquire);
  if (notify != nullptr) notify(operation);
}

Submission::~Submission() {
  guard_.unlock();
  for (const DeviceOperation& operation : operations_) Publish(operation);
}

void Submission::Place(const Stream& stream, uint64_t earliest_ns, DeviceOperation* operation,
                       const Work& work) {
  *operation = Identified(stream, work.operation);
  operation->start_ns = earliest_ns;
  operation->end_ns = earliest_ns + DurationNs(work);
  if (work.effect) work.effect();
  if (work.function) CallAt(operation->start_ns, stream.context->id, stream.id, work.function);
  if (work.type != NodeType::kEmpty) Keep(*operation);
}

int Submission::Add(Stream* stream, Work work) {
  if (stream->capture != nullptr) return CaptureWork(stream, std::move(work));
  DeviceOperation operation;
  Place(*stream, EarliestNs(*stream, ArrivalNs()), &operation, work);
  stream->ready_ns = operation.end_ns;
  return kSuccess;
}

int Submission::Launch(const GraphExec& exec, Stream* stream) {
  if (stream->capture != nullptr) return kNotSupported;
  if (simcuda_core()->tools.traces_graphs && !exec.traced) MeetUntracedGraph();
  DeviceOperation whole = Identified(*stream, {});
  whole.kind = OperationKind::kGraph;
  whole.graph = exec.id;
  whole.start_ns = whole.end_ns = EarliestNs(*stream, ArrivalNs());
  std::vector<uint64_t> ends_ns;
  for (const GraphExec::Node& node : exec.nodes) {
    uint64_t start_ns = whole.start_ns;
    for (size_t dependency : node.dependencies) start_ns = std::max(start_ns, ends_ns[dependency]);
    Work work = node.work;
    work.operation.graph = exec.id;
    work.operation.node = uint64_t{exec.id} << 32 | (ends_ns.size() + 1);
    DeviceOperation operation;
    Place(*stream, start_ns, &operation, work);
    ends_ns.push_back(operation.end_ns);
    whole.end_ns = std::max(whole.end_ns, operation.end_ns);
  }
  stream->ready_ns = whole.end_ns;
  Keep(whole);
  return kSuccess;
}

void Submission::Record(Event* event, Stream* stream) {
  event->capture = stream->capture;
  event->frontier = stream->frontier;
  if (stream->capture == nullptr) {
    event->time_ns = std::max(ReadyNs(*stream), NowNs());
  }
}

int Submission::WaitEvent(Stream* stream, Event* event) {
  if (stream->capture != nullptr || event->capture != nullptr) return CaptureWait(stream, *event);
  stream->ready_ns = std::max(stream->ready_ns, event->time_ns);
  DeviceOperation wait = Identified(*stream, {});
  wait.kind = OperationKind::kSync;
  wait.sync = kStreamWaitEvent;
  wait.event = event->id;
  wait.start_ns = wait.end_ns = NowNs();
  Keep(wait);
  return kSuccess;
}

void Synchronize(SyncType type, uint64_t ready_ns, const Context& context, uint32_t stream,
                 uint32_t event) {
  DeviceOperation wait{};
  wait.start_ns = NowNs();
  WaitUntil(ready_ns);
  WaitForHostFunctions(ready_ns, context.id, stream);
  wait.end_ns = NowNs();
  wait.kind = OperationKind::kSync;
  wait.sync = type;
  wait.correlation = CurrentCorrelation();
  wait.device = static_cast<uint32_t>(context.device);
  wait.context = context.id;
  wait.stream = stream;
  wait.event = event;
  wait.thread = ThreadId();
  Publish(wait);
}

}  // namespace simcuda
