// Waits that are too short for a record: the calling thread counts them until it makes a record,
// which tells how many there were (kShortWaits), because until then the thread stays in one state.
//
//   count          1 2 3 4           1
//   -----|record|--w-w-w-w-|4|record|w-----
//
// The first one takes the room from the ring that was open to the thread. So the next record, of
// any kind, finds none, and the slow path writes the number before it makes room: a thread without
// short waits pays nothing.
#ifndef RLSCOPE_RUNTIME_SHORT_WAITS_H_
#define RLSCOPE_RUNTIME_SHORT_WAITS_H_

#include "runtime/hot.h"
#include "runtime/rings.h"
#include "runtime/rlscope.h"

namespace rlscope::runtime {

inline Ring* RingOf(const struct rlscope_thread& self) { return static_cast<Ring*>(self.ring); }

// Whether the thread has counted some and made no record since. It may begin a wait then as if it
// had room: EndCall() takes the slow path where the wait gets a record after all.
inline bool CountsShortWaits(const struct rlscope_thread& self) {
  return self.ring != nullptr && self.cursor == self.limit && RingOf(self)->short_waits != 0 &&
         self.generation == Load(rlscope_process.generation) && self.call_start == 0 &&
         Load(rlscope_process.state) == RLSCOPE_RECORDING && !HasWindowChanged();
}

// One more, which ended at `end_ticks`. The thread has a ring of this image, and no call is held
// back.
inline void CountShortWait(struct rlscope_thread* self, uint64_t end_ticks) {
  Ring* ring = RingOf(*self);
  self->limit = self->cursor;
  ring->short_waits++;
  ring->short_wait_ticks = end_ticks;
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_SHORT_WAITS_H_
