#include "analysis/sweep/sweep_result.h"

namespace rlscope::analysis {

SweepResult::SweepResult(const ProcessInput& input, bool has_buckets)
    : paths(input.names, input.most_paths),
      history(input.start_ns, input.end_ns, input.process_items, input.names),
      counts(nullptr, PollNames(input.names)),
      process(has_buckets) {}

}  // namespace rlscope::analysis
