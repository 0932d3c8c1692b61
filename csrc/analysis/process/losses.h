// Counts of records that the sweep had to mend or leave out.
#ifndef RLSCOPE_ANALYSIS_PROCESS_LOSSES_H_
#define RLSCOPE_ANALYSIS_PROCESS_LOSSES_H_

#include <stdint.h>

#include "trace/format/archive.h"

namespace rlscope::analysis {

// Member, text in relation `loss`.
#define RLSCOPE_SWEEP_LOSSES(X)                                                           \
  X(clamped, "clamped")                               /* times moved, nesting mended */   \
  X(exit_without_enter, "exit_without_enter")         /* exits of what is not open */     \
  X(exit_out_of_order, "exit_out_of_order")           /* exits that were not innermost */ \
  X(call_end_without_begin, "call_end_without_begin") /* likewise, native calls */        \
  X(paths, "paths")                                   /* entries that went to (other) */  \
  X(undecodable_chunks, "undecodable_chunk")          /* left out by the reader */        \
  X(iteration_of_other_thread, "iteration_of_other_thread")

// All are sums, but `iteration_of_other_thread`, which the history counts anew.
struct Losses {
#define RLSCOPE_SWEEP_LOSS(member, text) uint64_t member = 0;
  RLSCOPE_SWEEP_LOSSES(RLSCOPE_SWEEP_LOSS)
#undef RLSCOPE_SWEEP_LOSS

  void Carry(trace::Archive* archive) {
#define RLSCOPE_SWEEP_LOSS(member, text) archive->Number(&member);
    RLSCOPE_SWEEP_LOSSES(RLSCOPE_SWEEP_LOSS)
#undef RLSCOPE_SWEEP_LOSS
  }
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_LOSSES_H_
