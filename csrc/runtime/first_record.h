// The first record of a thread: it makes the ring.
#ifndef RLSCOPE_RUNTIME_FIRST_RECORD_H_
#define RLSCOPE_RUNTIME_FIRST_RECORD_H_

#include "runtime/rings.h"
#include "runtime/rlscope.h"

namespace rlscope::runtime {

// The calling thread's ring, made if there is none; null when none can be had (loss no_ring) or no
// image is open. Needs process_lock.
Ring* EnsureRing(rlscope_thread* self);

// Called at the first record of each thread, with process_lock: it may start a thread, and records
// nothing. Set before main().
void SetFirstRecordHook(void (*hook)());

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_FIRST_RECORD_H_
