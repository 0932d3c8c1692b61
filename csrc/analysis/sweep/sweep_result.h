// What a sweep is asked for, and what it finds.
#ifndef RLSCOPE_ANALYSIS_SWEEP_SWEEP_RESULT_H_
#define RLSCOPE_ANALYSIS_SWEEP_SWEEP_RESULT_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/keys/operation_paths.h"
#include "analysis/process/history.h"
#include "analysis/process/losses.h"
#include "analysis/process/source.h"
#include "analysis/process/time_grid.h"
#include "analysis/threads/call_counts.h"
#include "analysis/threads/probes.h"
#include "analysis/views/bookkeeping.h"
#include "analysis/views/process_view.h"
#include "analysis/views/thread_view.h"

namespace rlscope::analysis {

struct SweepOptions {
  bool by_thread = true;
  bool counts = true;       // transitions and native calls
  uint32_t buckets = 2000;  // of the finest level, at most; 0: no timeline
  bool gpu = true;          // else gpu_busy is false everywhere
  bool bookkeeping = true;  // records by row
  // The time that the grid of buckets covers. It holds the process's own time; empty: it is that.
  Span grid = {0, 0};
};

// What the process did just before a time at which the kernel was asked which threads are awake.
struct StateReading {
  int64_t time_ns;
  uint32_t row;         // of the process view
  uint32_t is_blocked;  // 1: none of the threads that count was awake
  uint32_t stack;       // node of the owner, or of the main thread if there is none; 0: not known
};

struct SweepResult {
  OperationPaths paths;
  History history;
  Losses losses;
  CallCounts counts;
  ProcessView process;
  std::unique_ptr<ThreadView> threads;         // null without by_thread; numbered as input.threads
  std::unique_ptr<Bookkeeping> bookkeeping;    // null if not asked for
  SpillVector<StateReading> states;            // recorded time only; none of a part as below
  FoundProbes probes;                          // none of a part that another sweep has read
  TimeGrid grid = {0, 1, 0};                   // of the finest level
  std::vector<SpillVector<PartRow>> timeline;  // by level, from the finest on
  uint64_t keys = 0;                           // merged: what the sweep's time is proportional to

  SweepResult(const ProcessInput& input, bool has_buckets);
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_SWEEP_RESULT_H_
