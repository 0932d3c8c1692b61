#include "analysis/idle/idle_times.h"

#include <algorithm>

#include "analysis/idle/reason_follower.h"
#include "analysis/sweep/thread_archive.h"
#include "analysis/threads/thread_states.h"

namespace rlscope::analysis {
namespace {

class IdleRows : public ReasonSink {
 public:
  IdleRows(const LoopSpan& loop, IdleResult* result) : loop_(loop), result_(result) {}

  // Cut where the loop begins and where it ends.
  void AddTime(uint32_t row, Reason reason, int64_t start_ns, int64_t end_ns) override {
    while (start_ns < end_ns) {
      int64_t until_ns = end_ns;
      for (const int64_t cut_ns : {loop_.start_ns, loop_.end_ns}) {
        if (loop_.begun && start_ns < cut_ns) until_ns = std::min(until_ns, cut_ns);
      }
      const OperationPaths::Node& path = result_->paths.node(PathOfRow(row));
      const LoopStages::Stage stage = LoopStages::StageOf(loop_, start_ns, path);
      result_->rows.FindOrAdd(MakeIdleKey(row, stage, reason))->duration_ns += until_ns - start_ns;
      start_ns = until_ns;
    }
  }

 private:
  const LoopSpan loop_;
  IdleResult* const result_;
};

}  // namespace

std::unique_ptr<IdleResult> FindIdle(const ProcessInput& input, const LoopSpan& loop) {
  auto result = std::make_unique<IdleResult>(input);
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  const Reasons reasons(input);
  Losses losses;  // the sweep's are the same
  ThreadContext context = {
      &input, &history, &result->paths, &losses, nullptr, nullptr, FunctionLayers(input.names)};
  context.reasons = &reasons;
  result->has_gaps = history.has_gaps();
  Streams streams(context, /*gpu=*/true);
  IdleRows rows(loop, result.get());
  ReasonFollower follower(&streams, history, &rows);
  if (input.saved) {
    CallCounts counts;
    OwnerCalls owner_calls(&counts, streams.Calls(), streams.Threads());
    trace::Archive archive = *input.saved;
    CarryThreads(&archive, &result->paths, &streams);
    follower.GoOn(&archive, streams, result->paths.size(), &owner_calls, input.saved_until_ns);
  }
  streams.MergeInto(&follower);
  follower.Finish();
  return result;
}

}  // namespace rlscope::analysis
