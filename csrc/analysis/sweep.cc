#include "analysis/sweep.h"

#include "analysis/streams.h"
#include "analysis/sweeper.h"
#include "analysis/thread_states.h"

namespace rlscope::analysis {
namespace {

TimeGrid MakeGrid(const History& history, const SweepOptions& options) {
  const Span own = {history.start_ns(), history.end_ns()};
  const bool is_shared = options.grid.start_ns < options.grid.end_ns;
  const Span whole = is_shared ? options.grid : own;
  return TimeGrid::For(whole, options.buckets).FinestFor(own, options.buckets);
}

void AddCoarserLevels(SweepResult* result) {
  result->timeline.push_back(result->process.TakeTimeline());
  for (int32_t level = result->grid.level; level < kLastTimelineLevel; ++level) {
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
  if (options.buckets > 0) result->grid = MakeGrid(result->history, options);
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
  Sweeper sweeper(result.get(), &streams, options);
  streams.MergeInto(&sweeper);
  sweeper.Finish();
  if (options.buckets > 0) AddCoarserLevels(result.get());
  return result;
}

}  // namespace rlscope::analysis
