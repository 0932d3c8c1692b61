#include "capture/flusher.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "capture/activities.h"
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"

extern "C" {
int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)
    __attribute__((weak));
int pthread_detach(pthread_t) __attribute__((weak));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void*)
    __attribute__((weak));
}

namespace rlscope::capture {
namespace {

constexpr int64_t kPeriodNs = 200000000;
constexpr int kForkTries = 50;     // milliseconds
constexpr int kEndTries = 2000;    // milliseconds
constexpr uint32_t kComplete = 0;  // of cuptiActivityFlushAll: buffers whose records are complete
constexpr uint32_t kForced = 1;    // whatever there is

struct Flusher {
  const Cupti* cupti;
  uint32_t pid;      // whose it is: a child made without fork handlers has none
  uint32_t stopped;  // futex
};
Flusher flusher;
runtime::Lock flushing;
bool fork_holds_lock = false;

int64_t ReadNs(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// Needs `flushing`.
void Flush(uint32_t how) {
  SetRealtimeOffset(ReadNs(CLOCK_REALTIME) - base::ReadMonotonicNs());
  flusher.cupti->flush(how);
  ReadBuffers(*flusher.cupti);
}

bool IsStopped() { return __atomic_load_n(&flusher.stopped, __ATOMIC_ACQUIRE) != 0; }

void* Run(void*) {
  runtime::SysCall(SYS_prctl, PR_SET_NAME, runtime::Address("rls-cuda"));
  while (!IsStopped()) {
    runtime::SysFutexWait(&flusher.stopped, 0, kPeriodNs, /*shared=*/false);
    runtime::LockGuard guard(&flushing);
    if (IsStopped()) break;
    Flush(kComplete);
    __atomic_store_n(&runtime::process.capture_cpu_ns, ReadNs(CLOCK_THREAD_CPUTIME_ID),
                     __ATOMIC_RELAXED);
  }
  return nullptr;
}

// All signals are the program's.
bool CreateThread() {
  if (pthread_create == nullptr || pthread_detach == nullptr) return false;
  const int saved_errno = errno;
  const uint64_t all = ~0ull;
  uint64_t before = 0;
  runtime::SysCall(SYS_rt_sigprocmask, /*SIG_SETMASK=*/2, runtime::Address(&all),
                   runtime::Address(&before), sizeof all);
  pthread_t thread;
  const bool made = pthread_create(&thread, nullptr, &Run, nullptr) == 0;
  if (made) pthread_detach(thread);
  runtime::SysCall(SYS_rt_sigprocmask, /*SIG_SETMASK=*/2, runtime::Address(&before), 0,
                   sizeof before);
  errno = saved_errno;
  return made;
}

void PrepareFork() { fork_holds_lock = flushing.TryAcquire(kForkTries); }
void AfterForkInParent() {
  if (fork_holds_lock) flushing.Release();
  fork_holds_lock = false;
}
// CUDA does not work in a child of a process that used it, and the thread is not there.
void AfterForkInChild() {
  flushing.Reset();
  fork_holds_lock = false;
  flusher = Flusher();
  ForgetBuffers();
}

}  // namespace

bool StartFlusher(const Cupti* cupti) {
  static bool watches_forks = false;
  flusher = {cupti, runtime::SysGetPid(), 0};
  if (!watches_forks && __register_atfork != nullptr) {
    __register_atfork(&PrepareFork, &AfterForkInParent, &AfterForkInChild, nullptr);
    watches_forks = true;
  }
  return CreateThread();
}

void EndFlusher() {
  if (flusher.cupti == nullptr || flusher.pid != runtime::SysGetPid() || IsStopped()) return;
  __atomic_store_n(&flusher.stopped, 1, __ATOMIC_RELEASE);
  runtime::SysFutexWake(&flusher.stopped, 1, /*shared=*/false);
  if (!flushing.TryAcquire(kEndTries)) return;
  Flush(kForced);
  flushing.Release();
}

}  // namespace rlscope::capture
