// Survives pages of mapped files that are gone: another program cut the file short, or the disk
// cannot be read. The kernel says so by SIGBUS, which would end the process; while a PageGuard
// lives, its thread reads zeros there instead. For processes of our own alone, as it installs a
// signal handler, which a guest never does. Libc only.
#ifndef RLSCOPE_BASE_PAGE_GUARD_H_
#define RLSCOPE_BASE_PAGE_GUARD_H_

#include <stdint.h>

namespace rlscope::base {

// Guards the thread that makes it, for as long as it lives; several may lie around each other.
class PageGuard {
 public:
  PageGuard();
  ~PageGuard();
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

 private:
  int slot_;
};

// Pages that read as zeros so far, in all threads. What was read while the number grew is not what
// the file held.
uint64_t PagesReplaced();

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_PAGE_GUARD_H_
