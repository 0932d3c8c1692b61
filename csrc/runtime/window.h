// Whether the process records: the wrapper's window, its own start() and stop(), free space.
#ifndef RLSCOPE_RUNTIME_WINDOW_H_
#define RLSCOPE_RUNTIME_WINDOW_H_

#include <stdint.h>

namespace rlscope::runtime {

// Makes the state what window, start() and stop() say, writing kWindowStart or kWindowStop at
// `ticks` when it changes. Needs process_lock and an open image.
void ApplyWindow(uint64_t ticks);

// Follows a change on the control page, if there is one. Needs process_lock and an open
// image.
void FollowControl();

// The process has no control page, so there is no window to follow: before its image opens, after
// it closed, in a fork child.
void FollowNothing();

// No drainer lives: this process records no more (loss no_drainer). Needs process_lock and an open
// image.
void GiveUp();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_WINDOW_H_
