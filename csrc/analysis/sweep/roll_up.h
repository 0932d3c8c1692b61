// Rolls up the older part of a process's trace: sweeps it, keeps the state of the sweep, and
// removes the files that nothing else needs. A sweep of the rest then gives the same answers as a
// sweep of the whole. Single records of the older part are gone.
//
//   files   |---1---|---2---|---3---|-4       closed, closed, closed, written to
//                       ^ until
//   after   |=======|---2---|---3---|-4       1 is rolled up, and of 2 what is before `until`
//
// A sweep looks ahead for the names of automatic operations: what is rolled up takes them from the
// files that are there.
#ifndef RLSCOPE_ANALYSIS_SWEEP_ROLL_UP_H_
#define RLSCOPE_ANALYSIS_SWEEP_ROLL_UP_H_

#include <stdint.h>

#include <string>

#include "analysis/sweep/sweep.h"
#include "base/status.h"
#include "trace/directory/process_images.h"

namespace rlscope::analysis {

struct RollUpOptions {
  // All records before it lie in files.
  int64_t until_ns = 0;
  // That of the sweep, whose grid begins where the run does.
  SweepOptions sweep;
  uint32_t most_paths = kMaxPaths;
  // A roll-up that saves fewer bytes is not worth it. Negative: the folder may even grow.
  int64_t least_saved = 0;
};

struct RolledUpBytes {
  uint64_t removed = 0;
  uint64_t written = 0;
};

// Why the process cannot be rolled up, as one word; empty: it can.
const char* WhyNotRolledUp(const trace::ProcessImage& image);

// `folder`: DIR/trace. If no file can be removed, nothing happens. An error is one sentence, and
// the files are as they were. Throws std::system_error like Sweep.
base::Status RollUp(const trace::ProcessImage& image, const std::string& folder,
                    const RollUpOptions& options, RolledUpBytes* bytes);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_ROLL_UP_H_
