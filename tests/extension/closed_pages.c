/* Preloaded, it is a kernel that keeps read-only pages read-only, as far as programs can tell. */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

int mprotect(void* address, size_t size, int protection) {
  (void)address, (void)size, (void)protection;
  errno = EACCES;
  return -1;
}
