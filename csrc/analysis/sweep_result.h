// What a sweep is asked for, and what it finds.
#ifndef RLSCOPE_ANALYSIS_SWEEP_RESULT_H_
#define RLSCOPE_ANALYSIS_SWEEP_RESULT_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/bookkeeping.h"
#include "analysis/call_counts.h"
#include "analysis/history.h"
#include "analysis/losses.h"
#include "analysis/operation_paths.h"
#include "analysis/probes.h"
#include "analysis/process_view.h"
#include "analysis/source.h"
#include "analysis/thread_view.h"
#include "analysis/time_grid.h"

namespace rlscope::analysis {

struct SweepOptions {
  bool by_thread = true;
  bool counts = true;       // transitions and native calls
  uint32_t buckets = 2000;  // of the finest level, at most; 0: no timeline
  bool gpu = true;          // else gpu_busy is false everywhere
  bool bookkeeping = true;  // records by row
  // Time that the grid of buckets is for, which holds the process's own; empty: that.
  Span grid = {0, 0};
};

struct SweepResult {
  OperationPaths paths;
  History history;
  Losses losses;
  CallCounts counts;
  ProcessView process;
  std::unique_ptr<ThreadView> threads;         // null without by_thread; numbered as input.threads
  std::unique_ptr<Bookkeeping> bookkeeping;    // null if not asked for
  FoundProbes probes;                          // none of a part that another sweep has read
  TimeGrid grid = {0, 1, 0};                   // of the finest level
  std::vector<SpillVector<PartRow>> timeline;  // by level, from the finest on
  uint64_t keys = 0;                           // merged: what the sweep's time is proportional to

  SweepResult(const ProcessInput& input, bool has_buckets);
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_RESULT_H_
