#include "base/own_thread.h"

#include <errno.h>
#include <signal.h>

// Weak: a program made before glibc 2.34 may lack libpthread.
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)
    __attribute__((weak));

namespace rlscope::base {

int StartOwnThread(pthread_t* thread, void* (*body)(void*), void* argument) {
  if (pthread_create == nullptr) return ENOSYS;
  const int saved_errno = errno;
  sigset_t all, before;
  sigfillset(&all);  // leaves out what the C library keeps to itself
  sigprocmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(thread, nullptr, body, argument);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = saved_errno;
  return error;
}

}  // namespace rlscope::base
