// The calling thread: its number, its ring, its end.
#ifndef RLSCOPE_RUNTIME_THREADS_H_
#define RLSCOPE_RUNTIME_THREADS_H_

#include <stdint.h>

#include "runtime/rings.h"
#include "runtime/rlscope.h"

namespace rlscope::runtime {

// Ring of the calling thread in this image; null when it has none.
Ring* OwnRing();

// Position of the next record of a thread in its ring.
inline uint64_t PositionOf(const Ring& ring, const rlscope_thread& self) {
  return ring.lap_base + static_cast<uint64_t>(self.cursor - ring.slots);
}

// The thread's number in this image, entered in the arena if it is new. Needs process_lock and an
// open image. `native`: not a thread of the interpreter's, though the process has one.
uint32_t NumberThread(rlscope_thread* self, bool native = false);

// Gives the thread `ring` to write into: from its beginning (kThreadBegin), or, when it comes from
// the ring numbered `previous`, going on. Needs process_lock.
void UseRing(rlscope_thread* self, Ring* ring, uint32_t previous);

// Writes what must be recorded although the ring is full: into the reserved slots. False: even
// those are taken.
bool WriteReserved(rlscope_thread* self, uint32_t kind, uint32_t id, uint64_t ticks);
bool WriteReservedValue(rlscope_thread* self, uint32_t kind, uint64_t value, uint64_t ticks);

// Writes the begin of the native call that is open and held back, if there is one: something else
// is about to be written, and the items of a thread never contain each other. The thread has a
// ring.
void WriteHeldCall(rlscope_thread* self);

// Writes how many waits too short for a record there were since the last record, if there were any:
// something else is about to be written, after which the thread may be in another state. The
// thread has a ring.
void WriteShortWaits(rlscope_thread* self);

// Ends the ring of a thread with `kind` (kThreadEnd, kRingEnd) and gives it back; the thread has
// none afterwards. Needs process_lock.
void LeaveRing(rlscope_thread* self, uint32_t kind, uint32_t id);

// The calling thread as a new one: no ring, no number. For fork children and new sessions.
void ForgetThread(rlscope_thread* self);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_THREADS_H_
