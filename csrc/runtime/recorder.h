// The slow path of recording: what happens about four times per lap of a ring.
#ifndef RLSCOPE_RUNTIME_RECORDER_H_
#define RLSCOPE_RUNTIME_RECORDER_H_

#include <stdint.h>

#include "runtime/rings.h"
#include "runtime/rlscope.h"

namespace rlscope::runtime {

// The calling thread's ring, made if there is none; null when none can be had (loss no_ring) or no
// image is open. Needs process_lock.
Ring* EnsureRing(rlscope_thread* self);

// Called at the first record of each thread, with process_lock: it may start a thread, and records
// nothing. Set before main().
void SetFirstRecordHook(void (*hook)());

// Makes room for `slots` in the ring that `self` writes into (which may be another one then), as
// rlscope_make_room() does. False: drop the record. Not with process_lock.
int MakeRoomIn(rlscope_thread* self, Ring* ring, uint32_t slots);

// Writes how many short waits there were, and opens the ring again where it has room, without a
// look at its load: a call that was held back meanwhile comes next, and began before anything that
// would be written about that.
void EndShortWaits(rlscope_thread* self);

// The wrapper ended before this process, or a fork stopped the helper. Not with process_lock.
void RestartHelper();

// Writes one record of a rare kind at `ticks`, at the latest record's time if that is later, even
// when the ring is full. Returns the time it wrote; 0: there is no room at all. Needs process_lock
// and an open image.
uint64_t WriteRare(uint32_t kind, uint32_t id, uint64_t ticks);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_RECORDER_H_
