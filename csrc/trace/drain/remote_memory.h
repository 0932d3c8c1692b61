// Memory of another process, read while that runs. Nothing in it is trusted. Threads: any. Libc
// only.
#ifndef RLSCOPE_TRACE_DRAIN_REMOTE_MEMORY_H_
#define RLSCOPE_TRACE_DRAIN_REMOTE_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::trace {

class RemoteMemory {
 public:
  // What to read in one call, in this order.
  struct Piece {
    uint64_t address;
    void* to;
    size_t bytes;
  };
  static constexpr size_t kMostPieces = 64;

  explicit RemoteMemory(uint32_t pid) : pid_(pid) {}

  // False: not all of it could be read.
  bool Read(uint64_t address, void* to, size_t bytes) const;
  bool Read(const Piece* pieces, size_t count) const;

 private:
  uint32_t pid_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_REMOTE_MEMORY_H_
