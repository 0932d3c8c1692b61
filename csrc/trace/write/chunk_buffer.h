// The memory in which a chunk is built, and the texts that go into it.
#ifndef RLSCOPE_TRACE_WRITE_CHUNK_BUFFER_H_
#define RLSCOPE_TRACE_WRITE_CHUNK_BUFFER_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::trace {

// Scratch memory for one chunk at a time.
struct ChunkBuffer {
  uint8_t bytes[256 * 1024];
};

struct Text {
  const char* data;
  size_t size;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_CHUNK_BUFFER_H_
