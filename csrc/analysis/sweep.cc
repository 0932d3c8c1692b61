#include "analysis/sweep.h"

#include <algorithm>

#include "analysis/streams.h"
#include "analysis/sweeper.h"
#include "analysis/thread_states.h"

namespace rlscope::analysis {
namespace {

int64_t BucketLength(const History& history, uint32_t buckets) {
  if (buckets == 0) return 0;
  const int64_t range_ns = history.end_ns() - history.start_ns();
  return std::max<int64_t>(1, range_ns / buckets + (range_ns % buckets != 0));
}

void AddCoarserLevels(SweepResult* result) {
  result->timeline.push_back(result->process.TakeTimeline());
  while (result->timeline.size() < kTimelineLevels) {
    result->timeline.push_back(CoarserTimeline(result->timeline.back()));
  }
}

}  // namespace

SweepResult::SweepResult(const ProcessInput& input, bool has_buckets)
    : paths(input.names, input.most_paths),
      history(input.start_ns, input.end_ns, input.process_items, input.names),
      process(has_buckets) {}

std::unique_ptr<SweepResult> Sweep(const ProcessInput& input, const SweepOptions& options) {
  auto result = std::make_unique<SweepResult>(input, options.buckets > 0);
  result->losses.iteration_of_other_thread = result->history.ignored_iterations();
  result->losses.undecodable_chunks = input.undecodable_chunks;
  result->bucket_ns = BucketLength(result->history, options.buckets);
  const ThreadContext context = {&input,
                                 &result->history,
                                 &result->paths,
                                 &result->losses,
                                 options.counts ? &result->counts : nullptr,
                                 nullptr,
                                 FunctionLayers(input.names)};
  Streams streams(context, options.gpu);
  if (options.by_thread) {
    result->threads =
        std::make_unique<ThreadView>(streams.size(), streams.layout(), result->history.start_ns());
  }
  Sweeper sweeper(result.get(), &streams, options.counts);
  streams.MergeInto(&sweeper);
  sweeper.Finish();
  if (options.buckets > 0) AddCoarserLevels(result.get());
  return result;
}

}  // namespace rlscope::analysis
