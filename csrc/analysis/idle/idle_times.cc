#include "analysis/idle/idle_times.h"

#include <algorithm>

#include "analysis/idle/reason_follower.h"
#include "analysis/keys/row.h"
#include "analysis/sweep/thread_archive.h"
#include "analysis/threads/thread_states.h"

namespace rlscope::analysis {
namespace {

class IdleRows : public ReasonSink {
 public:
  IdleRows(const LoopSpan& loop, const std::vector<SeenSpan>* seen, IdleResult* result)
      : loop_(loop), seen_(seen), result_(result) {}

  // Cut where the loop begins and where it ends, and where GPU work is recorded or is not any more.
  void AddTime(uint32_t row, Reason reason, int64_t start_ns, int64_t end_ns) override {
    while (start_ns < end_ns) {
      int64_t until_ns = end_ns;
      for (const int64_t cut_ns : {loop_.start_ns, loop_.end_ns}) {
        if (loop_.begun && start_ns < cut_ns) until_ns = std::min(until_ns, cut_ns);
      }
      const SeenSpan* const span = SpanAt(start_ns, &until_ns);
      const uint32_t path = PathOfRow(row);
      const LoopStages::Stage stage =
          LoopStages::StageOf(loop_, start_ns, result_->paths.node(path));
      uint64_t key = MakeIdleKey(row, stage, reason);
      if (span != nullptr && span->is_sample) key |= IdleRow::kIsSample;
      if (span == nullptr && seen_ != nullptr) {
        key = MakeIdleKey(MakeRow(path, LayerOfRow(row), false), stage, reason);
        key |= IdleRow::kGpuIsUnknown;
      }
      result_->rows.FindOrAdd(key)->duration_ns += until_ns - start_ns;
      start_ns = until_ns;
    }
  }

 private:
  // The stretch that holds this time, null: none does. The same up to `until_ns` at most. Times
  // never decrease.
  const SeenSpan* SpanAt(int64_t now_ns, int64_t* until_ns) {
    if (seen_ == nullptr) return nullptr;
    while (next_ < seen_->size() && (*seen_)[next_].end_ns <= now_ns) ++next_;
    if (next_ == seen_->size()) return nullptr;
    const SeenSpan& span = (*seen_)[next_];
    const bool is_inside = span.start_ns <= now_ns;
    *until_ns = std::min(*until_ns, is_inside ? span.end_ns : span.start_ns);
    return is_inside ? &span : nullptr;
  }

  const LoopSpan loop_;
  const std::vector<SeenSpan>* const seen_;
  size_t next_ = 0;  // of them
  IdleResult* const result_;
};

}  // namespace

std::unique_ptr<IdleResult> FindIdle(const ProcessInput& input, const LoopSpan& loop,
                                     const std::vector<SeenSpan>* seen) {
  auto result = std::make_unique<IdleResult>(input);
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  const Reasons reasons(input);
  Losses losses;  // the sweep's are the same
  ThreadContext context = {
      &input, &history, &result->paths, &losses, nullptr, nullptr, FunctionLayers(input.names)};
  context.reasons = &reasons;
  result->has_gaps = history.has_gaps();
  Streams streams(context, /*gpu=*/true);
  IdleRows rows(loop, seen, result.get());
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
