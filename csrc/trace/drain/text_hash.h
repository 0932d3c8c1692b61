// A hash of texts, FNV-1a with 64 bits. Threads: any. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_TEXT_HASH_H_
#define RLSCOPE_TRACE_DRAIN_TEXT_HASH_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/write/chunk_buffer.h"

namespace rlscope::trace {

// `hash`: that of a text before it.
inline uint64_t HashText(Text text, uint64_t hash = 0xcbf29ce484222325) {
  for (size_t i = 0; i < text.size; i++) {
    hash = (hash ^ static_cast<uint8_t>(text.data[i])) * 0x100000001b3;
  }
  return hash;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_TEXT_HASH_H_
