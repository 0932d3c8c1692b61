// Files of functions that occur in stacks, each once, until somebody takes them. Threads: one adds,
// another one takes. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_SOURCE_FILES_H_
#define RLSCOPE_TRACE_DRAIN_SOURCE_FILES_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/drain/growing_array.h"
#include "trace/drain/number_table.h"
#include "trace/write/chunk_buffer.h"

namespace rlscope::trace {

class SourceFiles {
 public:
  void Add(Text file);

  // The names, each with a NUL at its end, as many as fit; returns how many bytes that are.
  size_t Take(char* names, size_t bytes);

 private:
  uint32_t lock_ = 0;  // held for a copy
  NumberTable known_;  // by a hash of the name
  GrowingArray<char> names_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_SOURCE_FILES_H_
