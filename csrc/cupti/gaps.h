// Stretches in which CUPTI's records go to another client of this process: counted (loss
// cuda_paused, cuda_displaced), and timed in the metadata `cuda_gaps`:
//   {"count": 2, "duration_ns": 31000000}                    both are over
//   {"count": 3, "duration_ns": 31000000, "since_ns": 512}   the third is not
// All functions need what the flusher's turn needs: one thread at a time.
#ifndef RLSCOPE_CUPTI_GAPS_H_
#define RLSCOPE_CUPTI_GAPS_H_

#include <stdint.h>

#include "trace/layout/shared_pages.h"

namespace rlscope::cupti {

// Begins a gap of this kind of loss at this time. An open gap goes on.
void BeginGap(trace::Loss kind, int64_t since_ns);
void EndGap();
// Whether a gap is open that was not asked for.
bool IsDisplaced();

// Another client that registers functions for buffers replaces ours, and CUPTI does not say so. But
// a synchronisation of the program is a record as soon as it returns: if three flushes after it, or
// the last flush of the process, bring no record at all, a gap has been open since the
// synchronisation began. It ends with the next record.

// Whether CUPTI agreed to make records of synchronisations.
void ExpectRecords(bool expected);

// After each flush: `records` is how many have been read so far.
void CheckRecords(uint64_t records, bool is_last);

// Whether launches, and the next synchronisation, are to be noticed; read in each CUDA call. Any
// thread may call these three.
extern uint32_t awaits_synchronization;
inline bool AwaitsSynchronization() {
  return __atomic_load_n(&awaits_synchronization, __ATOMIC_RELAXED) != 0;
}
void NoticeLaunch();
// A synchronisation has returned. `records`: how many had been read when it began.
void NoticeSynchronization(uint64_t records);

// The one that was noticed last is not waited for: it may have left no record.
void ForgetSynchronization();

// Fork child.
void ForgetGaps();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_GAPS_H_
