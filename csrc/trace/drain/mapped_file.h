// Files of a run that are mapped, or held open while they are written. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_MAPPED_FILE_H_
#define RLSCOPE_TRACE_DRAIN_MAPPED_FILE_H_

#include <stdint.h>

namespace rlscope::trace {

// Maps the regular file `path` from its first to its last byte, shared. 0 or an errno; EAGAIN when
// it is shorter than a page (its producer is still at it), EFBIG when longer than `most` bytes. The
// descriptor is closed again.
int MapFile(const char* path, uint64_t most, bool writable, void** address, uint64_t* bytes);

// What became of a file of an image that MapFile() and a look at its page gave `error` for.
//   kNo       it was read
//   kNotYet   not there so far, half made, or there is no descriptor or memory for it now
//   kGone     drained and removed
//   kDamaged  no file of ours any more
// `announced`: its process said that it was complete. `last`: there is no later look.
enum class Unread { kNo, kNotYet, kGone, kDamaged };
Unread WhyUnread(int error, bool announced, bool last);

// Whether the file of an open descriptor has no name any more; false for -1.
bool IsRemoved(int descriptor);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_MAPPED_FILE_H_
