// Makes the files of a run: DIR/rings, DIR/trace, DIR/processes.log, the control page
// DIR/rings/control and, where DIR is no place for mapped rings, their folder. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_CONTROL_PAGE_H_
#define RLSCOPE_TRACE_DRAIN_CONTROL_PAGE_H_

#include <stdint.h>

#include "trace/drain/ring_disk.h"
#include "trace/layout/shared_pages.h"
#include "trace/write/byte_budget.h"

namespace rlscope::trace {

struct DrainOptions {
  bool recording = true;
  uint32_t delay_iterations = 0;  // start recording after this many iterations of the window owner
  uint32_t iterations = 0;        // stop after this many more; 0 never
  uint32_t exit_after = 0;        // end the program after this many iterations; 0 never
  uint64_t min_free_bytes = 1ull << 30;  // stop recording below this much free space
  uint64_t max_bytes = 0;                // most bytes of all files of the run; 0: no limit
  bool stacks = true;                    // read where the interpreters' threads are
  // How long a store into a mapped page of a folder can take, in ns; tests have their own disks.
  int64_t (*longest_store_ns)(const char* folder) = &LongestStoreNs;
};

// `directory` is absolute and exists. `rings` as in DrainDirectory::Start(). 0 or an errno; EEXIST
// when the directory holds a run already. *page stays mapped until ReleaseControl().
int CreateControl(const char* directory, const char* rings, const DrainOptions& options,
                  ControlPage** page);
void ReleaseControl(ControlPage* page);

// Changes `recording` now; every process follows at its next record. Any thread. False: it was so
// before. The caller notes the change in the log (run_notes.h).
bool SetRecording(ControlPage* page, bool on);
// Stores what the page of the run in `directory` begins with once more, by write(2): a store into
// mapped memory changes no time of the file that another machine sees. Opens, writes and closes.
void TouchControl(const char* directory);
constexpr int64_t kTouchNs = 10000000000;  // how often a drainer does so

// Why recording was cut short: the errno of what a drainer was refused, ENOENT where the files of
// the run were removed, or:
constexpr uint32_t kNearlyFull = 1u << 16;       // less than min_free_bytes are free
constexpr uint32_t kLargestSize = kBudgetSpent;  // the files take max_bytes
// Stops recording in all processes, for good. The first reason stays.
void Cut(ControlPage* page, uint32_t why);

// Whether less than `bytes` are free where `directory` lies (false when it is not known).
bool IsDiskFull(const char* directory, uint64_t bytes);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_CONTROL_PAGE_H_
