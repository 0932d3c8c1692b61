// The sweep: one pass over all streams of a process in the order of time, which attributes every
// nanosecond (docs/reference/semantics.md; what that page leaves open: semantics-notes.md).
//
//   thread: items, CUDA calls -> ThreadStates --+
//   GPU stream: intervals     -> GpuStates -----+- keys -> MergeTree -+- Sweeper -> views -> rows
//   process items             -> History -------------- edges --------+
//
// Memory does not depend on the length of the trace: streams hold a chunk each, results beyond
// 4 MiB an array go to a temporary file.
#ifndef RLSCOPE_ANALYSIS_SWEEP_SWEEP_H_
#define RLSCOPE_ANALYSIS_SWEEP_SWEEP_H_

#include <stdint.h>

#include <memory>

#include "analysis/process/source.h"
#include "analysis/sweep/sweep_result.h"

namespace rlscope::analysis {

// If input.saved is something, the sweep goes on from it; CanGoOn must have said yes to it. Throws
// std::system_error when results find no room on disk.
std::unique_ptr<SweepResult> Sweep(const ProcessInput& input, const SweepOptions& options);

// Whether input.saved is a state of a sweep of this process.
bool CanGoOn(const ProcessInput& input);

// The sweep of a process that may go on, from input.saved on up to `until_ns`.
class PartialSweep {
 public:
  PartialSweep(const ProcessInput& input, const SweepOptions& options, int64_t until_ns);
  ~PartialSweep();

  bool IsBehind(uint32_t thread, const trace::ChunkPlace& chunk) const;
  void Write(trace::Archive* archive);

 private:
  struct State;
  const int64_t until_ns_;
  const std::unique_ptr<State> state_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_SWEEP_H_
