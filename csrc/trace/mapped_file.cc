#include "trace/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rlscope::trace {

int MapFile(const char* path, uint64_t least, bool writable, void** address, uint64_t* bytes) {
  // O_NONBLOCK: somebody may have put a FIFO there.
  const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (writable ? O_RDWR : O_RDONLY);
  const int descriptor = open(path, flags);
  if (descriptor < 0) return errno;
  const off_t size = lseek(descriptor, 0, SEEK_END);
  int error = size < 0 ? errno : static_cast<uint64_t>(size) < least ? EAGAIN : 0;
  if (error == 0) {
    const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    *address = mmap(nullptr, static_cast<size_t>(size), protection, MAP_SHARED, descriptor, 0);
    *bytes = static_cast<uint64_t>(size);
    if (*address == MAP_FAILED) error = errno;
  }
  close(descriptor);
  return error;
}

// The system call itself: the function is another one in older C libraries.
bool IsRemoved(int descriptor) {
  struct stat status;
  return descriptor >= 0 && syscall(SYS_fstat, descriptor, &status) == 0 && status.st_nlink == 0;
}

}  // namespace rlscope::trace
