// The size of the files of a run. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_RUN_BYTES_H_
#define RLSCOPE_TRACE_DRAIN_RUN_BYTES_H_

#include <stdint.h>

namespace rlscope::trace {

// Adds up the bytes of the regular files in `directory`, DIR/trace and DIR/rings. A file that
// cannot be read counts as empty.
uint64_t RunBytes(const char* directory);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_RUN_BYTES_H_
