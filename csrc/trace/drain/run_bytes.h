// The size of the files of a run. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_RUN_BYTES_H_
#define RLSCOPE_TRACE_DRAIN_RUN_BYTES_H_

#include <stdint.h>

namespace rlscope::trace {

// Of the regular files in `directory`, DIR/trace and DIR/rings, added up. What cannot be read has
// none.
uint64_t RunBytes(const char* directory);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_RUN_BYTES_H_
