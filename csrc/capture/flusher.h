// The thread that asks CUPTI for what it recorded, five times a second, and reads it: so that a
// killed process loses little, and no thread of the program does our work.
#ifndef RLSCOPE_CAPTURE_FLUSHER_H_
#define RLSCOPE_CAPTURE_FLUSHER_H_

#include "capture/cupti.h"

namespace rlscope::capture {

// False: no thread can be made; then only the end of the process reads what was recorded.
bool StartFlusher(const Cupti* cupti);

// Reads all there is, on the calling thread, and ends the flusher's work. At the end of the
// process, while CUDA still lives; gives up after two seconds if the flusher does not let go.
void EndFlusher();

}  // namespace rlscope::capture

#endif  // RLSCOPE_CAPTURE_FLUSHER_H_
