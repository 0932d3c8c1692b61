#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rlscope::base {

int OpenRegular(const char* path, int access, uint64_t* bytes) {
  // O_NONBLOCK: opening a FIFO must not wait for its other end.
  const int descriptor = open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return -1;
  struct stat status;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    *bytes = static_cast<uint64_t>(status.st_size);
    return descriptor;
  }
  close(descriptor);
  errno = ENXIO;
  return -1;
}

int64_t ReadAndClose(int descriptor, void* data, size_t size) {
  size_t done = 0;
  ssize_t got = 1;
  while (done < size && got != 0) {
    got = pread(descriptor, static_cast<char*>(data) + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno != EINTR) break;
    if (got > 0) done += static_cast<size_t>(got);
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return got < 0 ? -1 : static_cast<int64_t>(done);
}

const char* DescribeOpenError(int error) {
  if (error == ELOOP) return "it is a symbolic link, and rlscope does not follow links";
  if (error == ENXIO) return "it is not a regular file";
  return strerror(error);
}

}  // namespace rlscope::base
