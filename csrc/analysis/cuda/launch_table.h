// The CUDA calls of a process by correlation id, which joins GPU work to the call that launched it.
#ifndef RLSCOPE_ANALYSIS_CUDA_LAUNCH_TABLE_H_
#define RLSCOPE_ANALYSIS_CUDA_LAUNCH_TABLE_H_

#include <stdint.h>

#include "analysis/spill/spill_vector.h"

namespace rlscope::analysis {

struct Launch {
  int64_t correlation;  // never 0
  int64_t start_ns;
  int64_t end_ns;  // as cut by a window
  uint32_t name;
  uint32_t path : 31;
  uint32_t has_work : 1;  // some GPU work was launched by it
  uint32_t site = 0;      // node of its stack; 0: not known
};
static_assert(sizeof(Launch) == 40);

// Work may be recorded in any order and many times a call (a graph's kernels), at any time after
// it. So calls are kept: 40 bytes each, in a file where they are many. Correlation ids count up
// with the calls, and so does the place where the next one is looked for.
class LaunchTable {
 public:
  void Add(const Launch& launch) { launches_.push_back(launch); }
  // Call it when all were added. If several calls have one id, Find() gives the one that began
  // first.
  void Sort();

  // Null: no call has the id. Work on one stream is launched in order: `*hint`, kept per stream
  // and 0 at first, makes the next look-up short.
  Launch* Find(int64_t correlation, size_t* hint) const;

  const SpillVector<Launch>& launches() const { return launches_; }

 private:
  SpillVector<Launch> launches_;  // by id
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_LAUNCH_TABLE_H_
