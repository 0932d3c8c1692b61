// The slow path of recording: what happens about four times per lap of a ring.
#ifndef RLSCOPE_RUNTIME_RECORDER_H_
#define RLSCOPE_RUNTIME_RECORDER_H_

#include <stdint.h>

#include "runtime/rings.h"
#include "runtime/rlscope.h"

namespace rlscope::runtime {

// Makes room for `slots` in the ring that `self` writes into (which may be another one then), as
// rlscope_make_room() does. False: drop the record. Not with process_lock.
int MakeRoomIn(rlscope_thread* self, Ring* ring, uint32_t slots);

// Writes how many short waits there were, and opens the ring again where it has room, without a
// look at its load: a call that was held back meanwhile comes next, and began before anything that
// would be written about that.
void EndShortWaits(rlscope_thread* self);

// The wrapper ended before this process, or a fork stopped the helper. Not with process_lock.
void RestartHelper();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_RECORDER_H_
