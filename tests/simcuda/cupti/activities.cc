#include "cupti/activities.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "cupti/buffers.h"
#include "cupti/records.h"
#include "cupti/replay.h"
#include "cupti/settings.h"
#include "cupti/status.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

std::atomic<bool> kinds[kLastKind + 1];
std::atomic<uint32_t> thread_id_type{0};
std::atomic<uint32_t> period_ms{0};

struct Waiting {
  std::mutex lock;
  std::deque<DeviceOperation> operations;
};

Waiting& TheWaiting() {
  static Waiting& waiting = *new Waiting;
  return waiting;
}

thread_local std::map<uint32_t, std::deque<uint64_t>> external_ids;  // stacks, by kind

bool On(uint32_t kind) { return kinds[kind].load(std::memory_order_relaxed); }

// With graph-level tracing a graph's nodes leave no records, without it the graph itself leaves
// none.
bool Wanted(const DeviceOperation& operation) {
  if (operation.kind == OperationKind::kGraph) return On(kGraphTraceKind);
  if (operation.graph != 0 && On(kGraphTraceKind)) return false;
  if (operation.kind == OperationKind::kKernel) return On(kConcurrentKernelKind) || On(kKernelKind);
  auto kind = static_cast<uint32_t>(operation.kind);
  return kind <= kLastKind && On(kind);
}

// The records' writers take turns: clock pairs belong to the one at work.
std::mutex& WriterLock() {
  static std::mutex& lock = *new std::mutex;
  return lock;
}

std::deque<DeviceOperation> Take(bool forced, uint64_t now_ns) {
  Waiting& waiting = TheWaiting();
  std::lock_guard<std::mutex> guard(waiting.lock);
  std::deque<DeviceOperation> taken;
  std::deque<DeviceOperation> left;
  for (const DeviceOperation& operation : waiting.operations) {
    (forced || operation.end_ns <= now_ns ? taken : left).push_back(operation);
  }
  waiting.operations.swap(left);
  return taken;
}

void WriteRecords(bool forced) {
  std::lock_guard<std::mutex> guard(WriterLock());
  uint64_t now_ns = FindCore()->now_ns();
  auto operations = Take(forced, now_ns);
  if (Replays()) {
    for (const Bytes& record : TakeReplayed()) PutRecord(FindCore()->thread_id(), record);
    return;
  }
  if (operations.empty()) return;
  SampleClocks();
  uint32_t kernel_kind = On(kKernelKind) ? kKernelKind : kConcurrentKernelKind;
  for (const DeviceOperation& operation : operations) {
    PutRecord(operation.thread,
              OperationRecord(operation, kernel_kind, operation.end_ns <= now_ns));
  }
}

void WriteOverheadTruth(const Overhead& overhead) {
  std::string line =
      "{\"type\":\"cupti\",\"event\":\"overhead\",\"overhead\":" + std::to_string(overhead.kind) +
      ",\"tid\":" + std::to_string(overhead.thread) +
      ",\"start_ns\":" + std::to_string(overhead.start) +
      ",\"end_ns\":" + std::to_string(overhead.end) + "}\n";
  FindCore()->write_truth(line.data(), line.size());
}

// The time that CUPTI itself took to flush.
void RecordFlush(uint64_t start) {
  if (!On(kOverheadKind) || Replays()) return;
  Overhead overhead = {kBufferFlush, start, CpuTimestamp(), FindCore()->thread_id()};
  PutRecord(overhead.thread, OverheadRecord(overhead));
  WriteOverheadTruth(overhead);
}

// CUPTI's worker moves finished records into the buffers, of which the full ones go back to the
// client.
void Work() {
  constexpr uint32_t kOwnPeriodMs = 50;
  while (true) {
    uint32_t period = period_ms.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(period == 0 ? kOwnPeriodMs : period));
    WriteRecords(false);
  }
}

void StartWorker() {
  static std::once_flag& once = *new std::once_flag;
  std::call_once(once, [] {
    sigset_t all;
    sigset_t old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    std::thread worker(Work);
    pthread_setname_np(worker.native_handle(), "simcupti-worker");
    worker.detach();
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  });
}

void SetWatchedRecords(Domain domain, bool on) {
  for (auto& watched : FindCore()->tools.watched[domain]) {
    on ? watched.fetch_or(kRecord) : watched.fetch_and(static_cast<uint8_t>(~kRecord));
  }
}

// Some of them the test double leaves empty: devices, contexts, names, markers and such.
bool Exists(uint32_t kind) { return kind >= 1 && kind <= GetSettings().version->last_kind; }

// Once for all that a call submits.
void SpendTime(const DeviceOperation& operation) {
  static thread_local uint32_t last_call = 0;
  if (operation.correlation == last_call) return;
  last_call = operation.correlation;
  Spin(GetSettings().activity_ns);
}

}  // namespace

// CUDA events (36) from 12.8 on.
bool IsNeverEnabled(uint32_t kind) {
  constexpr uint32_t k12_8 = 26;
  constexpr uint32_t kCudaEventKind = 36;
  constexpr uint32_t kNever[] = {6, 7, 14, 21, 23, 27, 31, 41, 42, 43, 44};
  if (kind == kCudaEventKind) return GetSettings().version->number < k12_8;
  return std::find(std::begin(kNever), std::end(kNever), kind) != std::end(kNever);
}

int EnableKind(uint32_t kind, bool enable) {
  if (!Exists(kind) || IsNeverEnabled(kind)) return kCuptiInvalidKind;
  {
    std::lock_guard<std::mutex> guard(WriterLock());
    SampleClocks();
  }
  kinds[kind] = enable;
  if (kind == kGraphTraceKind) FindCore()->tools.traces_graphs = enable;
  if (kind == kDriverKind || kind == kRuntimeKind)
    SetWatchedRecords(kind == kDriverKind ? kDriver : kRuntime, enable);
  if (enable) StartWorker();
  return kCuptiSuccess;
}

int EnableApiRecord(Domain domain, uint32_t cbid, bool enable) {
  const CuptiVersion& version = *GetSettings().version;
  if (cbid == 0 ||
      cbid > (domain == kDriver ? version.driver_cbid_max : version.runtime_cbid_max)) {
    return kCuptiInvalidParameter;
  }
  auto& watched = FindCore()->tools.watched[domain][cbid];
  enable ? watched.fetch_or(kRecord) : watched.fetch_and(static_cast<uint8_t>(~kRecord));
  if (enable) StartWorker();
  return kCuptiSuccess;
}

void KeepOperation(const DeviceOperation& operation) {
  if (!Wanted(operation)) return;
  SpendTime(operation);
  PrepareBuffer(operation.thread);
  Waiting& waiting = TheWaiting();
  std::lock_guard<std::mutex> guard(waiting.lock);
  waiting.operations.push_back(operation);
}

void KeepCall(const ApiCall& call, uint64_t start, uint64_t end) {
  uint32_t thread = FindCore()->thread_id();
  uint32_t shown = thread_id_type == 1 ? thread : static_cast<uint32_t>(pthread_self());
  if (On(kExternalCorrelationKind)) {
    for (const auto& [kind, ids] : external_ids) {
      if (!ids.empty())
        PutRecord(thread, ExternalCorrelationRecord(kind, ids.back(), call.correlation));
    }
  }
  PutRecord(thread, ApiRecord(call, start, end, shown));
}

void Flush(bool forced) {
  uint64_t start = CpuTimestamp();
  WriteRecords(forced);
  RecordFlush(start);
  CompleteBuffers();
}

void SetFlushPeriod(uint32_t milliseconds) { period_ms = milliseconds; }

void StopActivities() {
  for (auto& kind : kinds) kind = false;
  FindCore()->tools.traces_graphs = false;
  SetWatchedRecords(kDriver, false);
  SetWatchedRecords(kRuntime, false);
}

void ForgetActivities() {
  {
    Waiting& waiting = TheWaiting();
    std::lock_guard<std::mutex> guard(waiting.lock);
    waiting.operations.clear();
  }
  ForgetBuffers();
}

int PushExternalId(uint32_t kind, uint64_t id) {
  if (kind == 0) return kCuptiInvalidParameter;
  external_ids[kind].push_back(id);
  return kCuptiSuccess;
}

int PopExternalId(uint32_t kind, uint64_t* id) {
  auto& ids = external_ids[kind];
  if (ids.empty()) return kCuptiQueueEmpty;
  if (id != nullptr) *id = ids.back();
  ids.pop_back();
  return kCuptiSuccess;
}

void SetThreadIdType(uint32_t type) { thread_id_type = type; }

uint32_t ThreadIdType() { return thread_id_type; }

}  // namespace simcuda
