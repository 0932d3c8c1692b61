#include "trace/drain/remote_memory.h"

#include <sys/uio.h>

namespace rlscope::trace {

bool RemoteMemory::Read(uint64_t address, void* to, size_t bytes) const {
  const Piece piece = {address, to, bytes};
  return Read(&piece, 1);
}

bool RemoteMemory::Read(const Piece* pieces, size_t count) const {
  while (count > 0) {
    struct iovec here[kMostPieces], there[kMostPieces];
    size_t bytes = 0, taken = 0;
    for (; taken < count && taken < kMostPieces; ++taken, ++pieces) {
      here[taken] = {pieces->to, pieces->bytes};
      there[taken] = {reinterpret_cast<void*>(pieces->address), pieces->bytes};
      bytes += pieces->bytes;
    }
    const ssize_t read = process_vm_readv(static_cast<pid_t>(pid_), here, taken, there, taken, 0);
    if (read < 0 || static_cast<size_t>(read) != bytes) return false;
    count -= taken;
  }
  return true;
}

}  // namespace rlscope::trace
