// Files that the process shares with its drainer: created, filled with real blocks and
// mapped, so that a store into them can neither fail (SIGBUS on a full disk) nor fault later.
#ifndef RLSCOPE_RUNTIME_SHARED_FILE_H_
#define RLSCOPE_RUNTIME_SHARED_FILE_H_

#include <stdint.h>

namespace rlscope::runtime {

// Creates `path` (mode 0600, must not exist) with `size` bytes of allocated zeros and maps it
// MAP_SHARED, read and write. Null and *error = -errno when anything is refused; then no file is
// left behind. Call it in RunDetached().
void* CreateShared(const char* path, uint64_t size, int* error);

// Maps the first `size` bytes of an existing file read and write. Null and -errno when it is
// absent, shorter, or not a regular file. Call it in RunDetached().
void* OpenShared(const char* path, uint64_t size, int* error);

// Faults every page of a fresh mapping in for writing, so that the hot path meets warm pages only
// (a fresh page costs more than the rest of a record), and keeps it out of fork children if
// `dont_fork`. About 50 us for 64 KiB.
void Prefault(void* address, uint64_t size, bool dont_fork);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_SHARED_FILE_H_
