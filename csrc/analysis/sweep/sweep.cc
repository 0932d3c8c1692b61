#include "analysis/sweep/sweep.h"

#include <algorithm>
#include <utility>

#include "analysis/sweep/streams.h"
#include "analysis/sweep/sweeper.h"
#include "analysis/threads/thread_states.h"

namespace rlscope::analysis {
namespace {

TimeGrid MakeGrid(const History& history, const SweepOptions& options, int64_t until_ns) {
  const Span own = {history.start_ns(), std::min(history.end_ns(), until_ns)};
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

// A sweep under way.
struct SweepRun {
  SweepRun(const ProcessInput& input, const SweepOptions& options, int64_t until_ns)
      : result(MakeResult(input, options, until_ns)),
        context{&input,
                &result->history,
                &result->paths,
                &result->losses,
                options.counts ? &result->counts : nullptr,
                nullptr,
                FunctionLayers(input.names),
                /*cuda_notes=*/false,
                options.bookkeeping,
                options.bookkeeping ? &result->probes : nullptr,
                options.bookkeeping ? CudaCallKinds(input.names) : CudaCallKinds()},
        streams(context, options.gpu),
        sweeper(WithViews(result.get(), &streams, options), &streams, input, options) {
    if (!input.saved) return;
    trace::Archive archive = *input.saved;
    goes_on = sweeper.Carry(&archive, &streams, 0);
  }

  static std::unique_ptr<SweepResult> MakeResult(const ProcessInput& input,
                                                 const SweepOptions& options, int64_t until_ns) {
    auto result = std::make_unique<SweepResult>(input, options.buckets > 0);
    result->losses.iteration_of_other_thread = result->history.ignored_iterations();
    result->losses.undecodable_chunks = input.undecodable_chunks;
    if (options.buckets > 0) result->grid = MakeGrid(result->history, options, until_ns);
    return result;
  }
  static SweepResult* WithViews(SweepResult* result, Streams* streams,
                                const SweepOptions& options) {
    if (options.by_thread) {
      result->threads = std::make_unique<ThreadView>(streams->size(), streams->layout(),
                                                     result->history.start_ns());
    }
    if (options.bookkeeping) {
      result->bookkeeping = std::make_unique<Bookkeeping>(streams->Records(), streams->main());
    }
    return result;
  }

  std::unique_ptr<SweepResult> result;
  const ThreadContext context;
  Streams streams;
  Sweeper sweeper;
  bool goes_on = true;
};

struct PartialSweep::State : SweepRun {
  using SweepRun::SweepRun;
};

PartialSweep::PartialSweep(const ProcessInput& input, const SweepOptions& options, int64_t until_ns)
    : until_ns_(until_ns), state_(std::make_unique<State>(input, options, until_ns)) {
  state_->streams.MergeUntil(&state_->sweeper, until_ns);
}

PartialSweep::~PartialSweep() = default;

bool PartialSweep::IsBehind(uint32_t thread, const trace::ChunkPlace& chunk) const {
  for (const auto& states : state_->streams.threads()) {
    if (states->thread() == thread) return states->IsBehind(chunk);
  }
  return false;
}

void PartialSweep::Write(trace::Archive* archive) {
  state_->sweeper.Carry(archive, &state_->streams, until_ns_);
  archive->Flush();
}

bool CanGoOn(const ProcessInput& input) { return SweepRun(input, SweepOptions(), kNever).goes_on; }

std::unique_ptr<SweepResult> Sweep(const ProcessInput& input, const SweepOptions& options) {
  SweepRun run(input, options, kNever);
  run.streams.MergeInto(&run.sweeper);
  run.sweeper.Finish();
  if (options.buckets > 0) AddCoarserLevels(run.result.get());
  return std::move(run.result);
}

}  // namespace rlscope::analysis
