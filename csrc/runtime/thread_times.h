// What the kernel counted of this process's threads, entered in the arena: with a thread's first
// record, and at its end or that of the process. Each reading is about 40 us (detached.h). Where
// the kernel does not say, nothing is entered. Needs process_lock and an open image.
#ifndef RLSCOPE_RUNTIME_THREAD_TIMES_H_
#define RLSCOPE_RUNTIME_THREAD_TIMES_H_

#include <stdint.h>

namespace rlscope::runtime {

// Enters those of one thread. `flags`: 0 or trace::kThreadEnds.
void NoteThreadTimes(uint32_t thread, uint32_t os_tid, uint16_t flags);

// Enters the last ones of every thread that has a ring.
void NoteTimesOfAllThreads();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_THREAD_TIMES_H_
