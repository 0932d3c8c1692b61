#include "trace/drain/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

int MapFile(const char* path, uint64_t most, bool writable, void** address, uint64_t* bytes) {
  const int descriptor = base::OpenRegular(path, writable ? O_RDWR : O_RDONLY, bytes);
  if (descriptor < 0) return errno;
  int error = *bytes < kPageSize ? EAGAIN : *bytes > most ? EFBIG : 0;
  if (error == 0) {
    const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
    *address = mmap(nullptr, *bytes, protection, MAP_SHARED, descriptor, 0);
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

Unread WhyUnread(int error, bool announced, bool last) {
  if (error == 0) return Unread::kNo;
  if (error == ENOENT) return announced && last ? Unread::kGone : Unread::kNotYet;
  if (error == EAGAIN) return announced ? Unread::kDamaged : Unread::kNotYet;
  const bool passes = error == ENOMEM || error == EMFILE || error == ENFILE || error == EACCES;
  return passes && !last ? Unread::kNotYet : Unread::kDamaged;
}

}  // namespace rlscope::trace
