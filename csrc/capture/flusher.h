// The thread that asks CUPTI for what it recorded, five times a second, and reads it: so that a
// killed process loses little, and no thread of the program does our work.
#ifndef RLSCOPE_CAPTURE_FLUSHER_H_
#define RLSCOPE_CAPTURE_FLUSHER_H_

#include "capture/cupti.h"

namespace rlscope::capture {

// False: no thread can be made, and no GPU work is read.
bool StartFlusher(const Cupti* cupti);

// Lets the flusher read all there is and waits until it has, two seconds at most. At the end of the
// process, while CUDA still lives. CUPTI is not called here: _exit() may come from a signal handler
// that interrupted it.
void EndFlusher();

}  // namespace rlscope::capture

#endif  // RLSCOPE_CAPTURE_FLUSHER_H_
