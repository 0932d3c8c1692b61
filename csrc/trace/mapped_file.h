// Files of a run that are mapped, or held open while they are written. Libc only.
#ifndef RLSCOPE_TRACE_MAPPED_FILE_H_
#define RLSCOPE_TRACE_MAPPED_FILE_H_

#include <stdint.h>

namespace rlscope::trace {

// Maps `path` from its first to its last byte, shared. 0 or an errno; EAGAIN when it is shorter
// than `least` bytes (its producer is still at it). The descriptor is closed again.
int MapFile(const char* path, uint64_t least, bool writable, void** address, uint64_t* bytes);

// Whether the file of an open descriptor has no name any more; false for -1.
bool IsRemoved(int descriptor);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_MAPPED_FILE_H_
