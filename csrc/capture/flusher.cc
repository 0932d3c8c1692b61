#include "capture/flusher.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/own_thread.h"
#include "capture/activities.h"
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"

extern "C" {
int pthread_detach(pthread_t) __attribute__((weak));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void*)
    __attribute__((weak));
}

namespace rlscope::capture {
namespace {

constexpr int64_t kPeriodNs = 200000000;
constexpr int64_t kEndWaitNs = 2000000000;
constexpr int kForkTries = 50;     // milliseconds
constexpr uint32_t kComplete = 0;  // of cuptiActivityFlushAll: buffers whose records are complete
constexpr uint32_t kForced = 1;    // whatever there is

struct Flusher {
  const Cupti* cupti;
  uint32_t pid;      // whose it is: a child made without fork handlers has none
  uint32_t stopped;  // futex: 1 = the process ends
  uint32_t done;     // futex: 1 = and all is read
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

bool IsSet(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0; }

void Set(uint32_t* word) {
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  runtime::SysFutexWake(word, INT32_MAX, /*shared=*/false);
}

void* Run(void*) {
  runtime::SysCall(SYS_prctl, PR_SET_NAME, runtime::Address("rls-cuda"));
  bool ends = false;
  while (!ends) {
    runtime::SysFutexWait(&flusher.stopped, 0, kPeriodNs, /*shared=*/false);
    ends = IsSet(&flusher.stopped);
    runtime::LockGuard guard(&flushing);
    Flush(ends ? kForced : kComplete);
    __atomic_store_n(&runtime::process.capture_cpu_ns, ReadNs(CLOCK_THREAD_CPUTIME_ID),
                     __ATOMIC_RELAXED);
  }
  Set(&flusher.done);
  return nullptr;
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
  flusher = {cupti, runtime::SysGetPid(), 0, 0};
  if (!watches_forks && __register_atfork != nullptr) {
    __register_atfork(&PrepareFork, &AfterForkInParent, &AfterForkInChild, nullptr);
    watches_forks = true;
  }
  pthread_t thread;
  if (pthread_detach != nullptr && base::StartOwnThread(&thread, &Run, nullptr) == 0) {
    pthread_detach(thread);
    return true;
  }
  flusher = Flusher();
  return false;
}

void EndFlusher() {
  if (flusher.cupti == nullptr || flusher.pid != runtime::SysGetPid()) return;
  Set(&flusher.stopped);
  const int64_t deadline = base::ReadMonotonicNs() + kEndWaitNs;
  while (!IsSet(&flusher.done)) {
    const int64_t left = deadline - base::ReadMonotonicNs();
    if (left <= 0) return;
    runtime::SysFutexWait(&flusher.done, 0, left, /*shared=*/false);
  }
}

}  // namespace rlscope::capture
