#include "base/own_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Weak: a program made before glibc 2.34 may lack libpthread.
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)
    __attribute__((weak));

namespace rlscope::base {
namespace {

// struct sched_attr of the kernel as it was at first: later ones are longer, and take this one, too.
struct SchedulerAttributes {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime_ns, deadline_ns, period_ns;
};

constexpr uint32_t kNormal = 0, kBatch = 3;
constexpr uint64_t kShortNs = 100000;  // the least that the kernel takes

}  // namespace

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

void WakeOwnThreadSoon() {
  const int saved_errno = errno;
  SchedulerAttributes attributes = {};
  const long error = syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0);
  if (error == 0 && (attributes.policy == kNormal || attributes.policy == kBatch)) {
    attributes.size = sizeof attributes;
    attributes.runtime_ns = kShortNs;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
  }
  errno = saved_errno;
}

}  // namespace rlscope::base
