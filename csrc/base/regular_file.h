// How every file of a trace directory is opened to be read: the directory may come from a stranger
// who puts a symbolic link, a FIFO or a device where a file should be, or a file of 40 GB. Libc
// only.
#ifndef RLSCOPE_BASE_REGULAR_FILE_H_
#define RLSCOPE_BASE_REGULAR_FILE_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::base {

// Opens the regular file `path` and stores its size. `access`: O_RDONLY or O_RDWR. A descriptor, or
// -1 and errno: ELOOP for a symbolic link, ENXIO for anything else that is no regular file.
int OpenRegular(const char* path, int access, uint64_t* bytes);

// Reads up to `size` bytes from the start and closes the descriptor. How many there were, or -1 and
// errno.
int64_t ReadAndClose(int descriptor, void* data, size_t size);

// An errno value of these functions as a person should read it.
const char* DescribeOpenError(int error);

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_REGULAR_FILE_H_
