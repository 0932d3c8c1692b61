#include "analysis/events/intervals.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/cuda/cuda_follower.h"
#include "analysis/cuda/cuda_relations.h"
#include "analysis/cuda/launch_table.h"
#include "analysis/gpu/gpu_merge.h"
#include "analysis/process/recorded_time.h"
#include "analysis/spill/spill_vector.h"
#include "analysis/sweep/thread_archive.h"
#include "analysis/threads/owner_calls.h"
#include "analysis/threads/poll_series.h"
#include "analysis/threads/thread_states.h"

namespace rlscope::analysis {
namespace {

// Iterations of times that mostly come one after the other.
class IterationFinder {
 public:
  explicit IterationFinder(const History& history) : history_(history) {}

  int64_t At(int64_t time_ns) {
    if (time_ns < from_ns_ || time_ns >= until_ns_) Find(time_ns);
    return found_;
  }

 private:
  void Find(int64_t time_ns) {
    found_ = history_.IterationAt(time_ns);
    from_ns_ = until_ns_ = time_ns;
    if (found_ < 0) return;
    const IterationRow& row = history_.iterations()[static_cast<size_t>(found_)];
    from_ns_ = row.start_ns;
    until_ns_ = row.end_ns;
  }

  const History& history_;
  int64_t from_ns_ = 0;
  int64_t until_ns_ = 0;  // what was found holds up to here
  int64_t found_ = -1;
};

// The threads' intervals: operations, calls, waits, callbacks, CUDA calls.
class ThreadIntervals : public InstanceSink, public CallSink, public CudaCallSink {
 public:
  ThreadIntervals(const History& history, const std::vector<trace::Name>& names,
                  LaunchTable* launches, IntervalSink* sink)
      : iterations_(history), launches_(launches), sink_(sink), polls_(names), counts_(this) {}

  CallCounts* counts() { return &counts_; }
  OwnerCalls* owner_calls() { return owner_calls_.get(); }
  void Follow(Streams* streams) {
    threads_ = streams->Threads();
    owner_calls_ = std::make_unique<OwnerCalls>(&counts_, streams->Calls(), threads_);
  }

  void Add(const OperationInstance& instance) override {
    AddOf(instance.thread, IntervalKind::kOperation, instance.path, instance.path,
          instance.start_ns, instance.end_ns - instance.start_ns, 0);
  }
  void AddCall(const NativeCall& call) override {
    AddOf(call.thread, IntervalKind::kCall, call.function, call.path, call.start_ns,
          call.duration_ns, 0);
  }
  void AddWait(const NativeCall& wait) override {
    SpillVector<NativeCall>* const turns = &turns_[wait.thread];
    const NativeCall* const turn = turns->empty() ? nullptr : &turns->back();
    if (polls_.IsPassedOver(wait, turn)) return AddWaitOf(wait.function, wait);
    const bool goes_on = turn != nullptr && polls_.GoesOn(*turn, wait);
    const bool is_turn = polls_.IsTurn(wait);
    if (!(goes_on && is_turn)) GiveTurns(turns, goes_on ? &wait : nullptr);
    is_turn ? turns->push_back(wait) : AddWaitOf(wait.function, wait);
  }
  void AddCallback(uint32_t thread, int64_t start_ns, int64_t duration_ns) override {
    AddOf(thread, IntervalKind::kCallback, 0, kUnknownOperation, start_ns, duration_ns, 0);
  }
  void AddCall(const CudaCall& call) override {
    const uint32_t name = std::min(call.name, trace::kMaxId);
    AddOf(threads_[call.stream], IntervalKind::kCudaCall, name, call.path, call.start_ns,
          call.end_ns - call.start_ns, call.correlation);
    if (call.correlation == 0) return;
    launches_->Add({call.correlation, call.start_ns, call.end_ns, name, call.path, false});
  }

  void ChangeOwner(uint32_t, int64_t until_ns, uint32_t next) override {
    owner_calls_->SetPath(until_ns, next);
  }
  void AdvanceTo(int64_t now_ns) override { owner_calls_->Resolve(now_ns); }
  // After the last wait.
  void Finish() {
    for (auto& [thread, turns] : turns_) GiveTurns(&turns, nullptr);
  }

 private:
  void AddOf(uint32_t thread, IntervalKind kind, uint32_t name, uint32_t operation,
             int64_t start_ns, int64_t duration_ns, int64_t correlation) {
    sink_->Add({kind, trace::GpuKind::kUnknown, thread, name, operation, iterations_.At(start_ns),
                start_ns, duration_ns, correlation, 0, 0, 0});
  }

  void AddWaitOf(uint32_t function, const NativeCall& wait) {
    AddOf(wait.thread, IntervalKind::kWait, function, wait.path, wait.start_ns, wait.duration_ns,
          0);
  }
  // Turns of a thread that timed out; `end`, if it is not null, is what they waited for.
  void GiveTurns(SpillVector<NativeCall>* turns, const NativeCall* end) {
    for (const NativeCall& turn : *turns) {
      AddWaitOf(end != nullptr ? end->function : turn.function, turn);
    }
    turns->RemoveFirst(turns->size());
  }

  IterationFinder iterations_;
  LaunchTable* const launches_;
  IntervalSink* const sink_;
  const PollNames polls_;
  std::map<uint32_t, SpillVector<NativeCall>> turns_;  // by thread: of a series that may go on
  CallCounts counts_;
  std::vector<uint32_t> threads_;  // numbers, by stream
  std::unique_ptr<OwnerCalls> owner_calls_;
};

// The GPU's intervals, and how long calls waited for it.
class GpuIntervals {
 public:
  GpuIntervals(const History& history, const RecordedTime& recorded, const LaunchTable& launches,
               IntervalSink* sink)
      : iterations_(history), recorded_(recorded), launches_(launches), sink_(sink) {}

  void Read(const std::vector<GpuInput>& inputs) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      size_t hint = 0;
      GpuMerge at(inputs, {i}, trace::Detail::kAll);
      while (at.Next()) AddOne(at, &hint);
    }
  }

 private:
  void AddOne(const GpuMerge& at, size_t* hint) {
    const trace::GpuBatch& batch = at.batch();
    const GpuRole role = RowOfGpuKind(at.kind()).role;
    const Launch* const launch = launches_.Find(batch.correlation[at.index()], hint);
    int64_t start_ns = at.start_ns(), end_ns = at.end_ns();
    if (role == GpuRole::kWait && launch != nullptr) {
      start_ns = launch->start_ns;  // the call is what counts
      end_ns = launch->end_ns;
    } else if (!recorded_.Touches(start_ns, end_ns)) {
      return;
    }
    const uint32_t operation = launch != nullptr       ? launch->path
                               : role == GpuRole::kOwn ? kUnknownOperation
                                                       : kUnlinkedPath;
    const auto kind = static_cast<trace::GpuKind>(GpuKindOf(at.kind()));
    sink_->Add({IntervalKind::kGpu, kind, 0, batch.name[at.index()], operation,
                iterations_.At(start_ns), start_ns, end_ns - start_ns,
                batch.correlation[at.index()], at.stream(), batch.graph[at.index()],
                batch.bytes[at.index()]});
  }

  IterationFinder iterations_;
  const RecordedTime& recorded_;
  const LaunchTable& launches_;
  IntervalSink* const sink_;
};

}  // namespace

void FindIntervals(const ProcessInput& input, OperationPaths* paths, IntervalSink* sink) {
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  const RecordedTime recorded(history, input.start_ns);
  LaunchTable launches;
  ThreadIntervals threads(history, input.names, &launches, sink);
  Losses losses;  // the sweep's are the same
  ThreadContext context = {
      &input, &history, paths, &losses, threads.counts(), &threads, FunctionLayers(input.names)};
  context.cuda_notes = true;
  Streams streams(context, /*gpu=*/false);
  threads.Follow(&streams);
  CudaFollower follower(&streams, &threads);
  if (input.saved) {
    trace::Archive archive = *input.saved;
    CarryThreads(&archive, paths, &streams);
    follower.GoOn(&archive, streams, paths->size(), threads.owner_calls());
  }
  streams.MergeInto(&follower);
  follower.Finish(history.end_ns());
  threads.Finish();
  launches.Sort();
  GpuIntervals(history, recorded, launches, sink).Read(input.gpu);
}

}  // namespace rlscope::analysis
