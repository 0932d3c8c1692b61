#include "runtime/shared_file.h"

#include <errno.h>

#include "runtime/detached.h"
#include "runtime/file_size_signal.h"
#include "runtime/syscalls.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace rlscope::runtime {
namespace {

constexpr uint64_t kPage = 4096;

// For file systems without fallocate (ext3, some network and overlay ones).
int WriteZeros(int descriptor, uint64_t size) {
  static const char zeros[kPage] = {};
  for (uint64_t done = 0; done < size;) {
    const long written = SysWrite(descriptor, zeros, size - done < kPage ? size - done : kPage);
    if (written == -EINTR) continue;
    if (written <= 0) return written < 0 ? static_cast<int>(written) : -ENOSPC;
    done += static_cast<uint64_t>(written);
  }
  return 0;
}

int Allocate(int descriptor, uint64_t size) {
  long result;
  do {
    result = SysCall(SYS_fallocate, descriptor, 0, 0, static_cast<long>(size));
  } while (result == -EINTR);
  if (result == -EOPNOTSUPP || result == -ENOSYS || result == -EPERM) {
    return WriteZeros(descriptor, size);
  }
  return static_cast<int>(result);
}

void* MapShared(int descriptor, uint64_t size) {
  return SysMap(size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor);
}

// Bytes of the file, or -errno; through lseek, because fstat's struct differs between libcs.
long SizeOf(int descriptor) { return SysCall(SYS_lseek, descriptor, 0, /*SEEK_END=*/2); }

}  // namespace

void* CreateShared(const char* path, uint64_t size, int* error) {
  const int descriptor = OpenHidden(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (descriptor < 0) {
    *error = descriptor;
    return nullptr;
  }
  const FileSizeSignalGuard guard;
  *error = Allocate(descriptor, size);
  if (*error == -EFBIG) guard.TakeSignal();
  void* address = *error == 0 ? MapShared(descriptor, size) : nullptr;
  if (address == nullptr) {
    if (*error == 0) *error = -ENOMEM;
    SysCall(SYS_unlinkat, AT_FDCWD, Address(path), 0);
  }
  SysClose(descriptor);
  return address;
}

void* OpenShared(const char* path, uint64_t size, int* error) {
  const int descriptor = OpenHidden(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  if (descriptor < 0) {
    *error = descriptor;
    return nullptr;
  }
  void* address =
      SizeOf(descriptor) >= static_cast<long>(size) ? MapShared(descriptor, size) : nullptr;
  *error = address == nullptr ? -EINVAL : 0;
  SysClose(descriptor);
  return address;
}

void Prefault(void* address, uint64_t size, bool dont_fork) {
  if (SysCall(SYS_madvise, Address(address), static_cast<long>(size), MADV_POPULATE_WRITE) != 0) {
    // Before Linux 5.14. The pages hold zeros, so storing one changes nothing.
    volatile char* bytes = static_cast<char*>(address);
    for (uint64_t offset = 0; offset < size; offset += kPage) bytes[offset] = 0;
  }
  if (dont_fork) SysCall(SYS_madvise, Address(address), static_cast<long>(size), MADV_DONTFORK);
}

}  // namespace rlscope::runtime
