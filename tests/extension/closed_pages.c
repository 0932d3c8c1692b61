/* Preloaded, it is a kernel that keeps read-only pages read-only, as far as programs can tell: from
   the start, or, with CLOSED_LATER, from close_pages(1) to close_pages(0). */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef CLOSED_LATER
static int closed = 0;
#else
static int closed = 1;
#endif

void close_pages(int close) { closed = close; }

int mprotect(void* address, size_t size, int protection) {
  if (!closed) return (int)syscall(SYS_mprotect, address, size, protection);
  errno = EACCES;
  return -1;
}
