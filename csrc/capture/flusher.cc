#include "capture/flusher.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/own_thread.h"
#include "capture/activities.h"
#include "capture/gaps.h"
#include "capture/note.h"
#include "capture/subscription.h"
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
constexpr int64_t kLookPeriodNs = 1000000000;
constexpr int64_t kEndWaitNs = 2000000000;
constexpr int kForkTries = 50;     // milliseconds
constexpr uint32_t kComplete = 0;  // of cuptiActivityFlushAll: buffers whose records are complete
constexpr uint32_t kForced = 1;    // whatever there is

struct Flusher {
  const Cupti* cupti;
  const Cupti* (*attach)();  // null: CUDA is not waited for
  uint32_t pid;              // whose it is: a child made without fork handlers has none
  uint32_t stopped;          // futex: 1 = the process ends
  uint32_t done;             // futex: 1 = and all is read
  // CUPTI's hardware event system: a flush beside other calls may write where it must not.
  bool flushes_at_synchronizations;
};
Flusher flusher;
runtime::Lock flushing;  // whose turn it is to change the flusher and to flush
bool paused = false;
const Cupti* (*deferred)() = nullptr;  // CUDA began in a pause: how it is attached after that
bool fork_holds_lock = false;

int64_t ReadNs(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

bool IsOurs() { return flusher.pid == runtime::SysGetPid(); }

bool IsSet(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0; }

void Set(uint32_t* word) {
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  runtime::SysFutexWake(word, INT32_MAX, /*shared=*/false);
}

// ---- turns, which need `flushing` ---------------------------------------------------------------

// In place of the note before: the count grows.
void TellImpossibleTimes(uint64_t count) {
  Note note;
  note.Number("records", count);
  note.Problem("times of GPU work are wrong", "CUPTI's lie outside of the process's life", 0);
  note.Write("cuda_times");
}

void Read() {
  SetRealtimeOffset(ReadNs(CLOCK_REALTIME) - base::ReadMonotonicNs());
  const uint64_t before = ImpossibleTimes();
  ReadBuffers(*flusher.cupti);
  if (ImpossibleTimes() != before) TellImpossibleTimes(ImpossibleTimes());
}

void Flush(uint32_t how) {
  flusher.cupti->flush(how);
  Read();
}

void FlushInTurn() {
  if (flusher.flushes_at_synchronizations) {
    Read();
  } else {
    Flush(kComplete);
  }
  CheckRecords(RecordsRead(), /*is_last=*/false);
}

void FlushLast() {
  Flush(kForced);
  CheckRecords(RecordsRead(), /*is_last=*/true);
}

void LookForCuda() {
  if (!IsCudaLoaded()) return;
  flusher.cupti = flusher.attach();
  flusher.attach = nullptr;
}

// False: there is nothing more to do.
bool TakeTurn() {
  const bool ends = IsSet(&flusher.stopped);
  runtime::LockGuard guard(&flushing);
  if (flusher.attach != nullptr && !ends && !paused) LookForCuda();
  if (flusher.cupti == nullptr) return flusher.attach != nullptr && !ends;
  if (ends && !paused) FlushLast();
  if (!ends && !paused) FlushInTurn();
  __atomic_store_n(&runtime::process.capture_cpu_ns, ReadNs(CLOCK_THREAD_CPUTIME_ID),
                   __ATOMIC_RELAXED);
  return !ends;
}

void* Run(void*) {
  runtime::SysCall(SYS_prctl, PR_SET_NAME, runtime::Address("rls-cuda"));
  do {
    const int64_t period_ns = flusher.attach != nullptr ? kLookPeriodNs : kPeriodNs;
    runtime::SysFutexWait(&flusher.stopped, 0, period_ns, /*shared=*/false);
  } while (TakeTurn());
  Set(&flusher.done);
  return nullptr;
}

// ---- fork ---------------------------------------------------------------------------------------

void PrepareFork() { fork_holds_lock = flushing.TryAcquire(kForkTries); }
void AfterForkInParent() {
  if (fork_holds_lock) flushing.Release();
  fork_holds_lock = false;
}
// CUDA does not work in a child of a process that used it, and the thread is not there.
void AfterForkInChild() {
  flushing.Reset();
  fork_holds_lock = paused = false;
  deferred = nullptr;
  flusher = Flusher();
  ForgetBuffers();
  ForgetGaps();
}

// ---- begin --------------------------------------------------------------------------------------

bool Start(const Cupti* cupti, const Cupti* (*attach)()) {
  static bool watches_forks = false;
  flusher = Flusher();
  flusher.cupti = cupti;
  flusher.attach = attach;
  flusher.pid = runtime::SysGetPid();
  flusher.flushes_at_synchronizations = IsEnv("CUPTI_ENABLE_HW_TRACE", "1");
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

}  // namespace

bool StartFlusher(const Cupti* cupti) { return Start(cupti, nullptr); }

void WatchForCuda(const Cupti* (*attach)()) {
  if (!IsOurs()) Start(nullptr, attach);
}

void PauseFlusher() {
  runtime::LockGuard guard(&flushing);
  if (paused) return;
  paused = true;
  if (flusher.cupti == nullptr || !IsOurs()) return;
  StopActivities(*flusher.cupti);
  Flush(kForced);
  Unsubscribe(*flusher.cupti);
  BeginGap(trace::kCudaPaused);
}

bool DeferWhilePaused(const Cupti* (*attach)()) {
  runtime::LockGuard guard(&flushing);
  if (!paused) return false;
  deferred = attach;
  BeginGap(trace::kCudaPaused);
  return true;
}

void ResumeFlusher() {
  runtime::LockGuard guard(&flushing);
  if (!paused) return;
  paused = false;
  if (deferred != nullptr) {
    if (const Cupti* cupti = deferred()) Start(cupti, nullptr);
    deferred = nullptr;
  } else if (flusher.cupti != nullptr && IsOurs()) {
    Note note;
    note.Text("library", flusher.cupti->path);
    note.Number("version", flusher.cupti->version);
    SubscribeAgain(*flusher.cupti, &note);
    note.Write();
  }
  EndGap();
}

void FlushAtSynchronization() {
  if (!flusher.flushes_at_synchronizations || !IsOurs() || !flushing.TryAcquire(0)) return;
  if (flusher.cupti != nullptr && !paused) flusher.cupti->flush(kComplete);
  flushing.Release();
}

void EndFlusher() {
  if (flusher.cupti == nullptr || !IsOurs()) return;
  Set(&flusher.stopped);
  const int64_t deadline = base::ReadMonotonicNs() + kEndWaitNs;
  while (!IsSet(&flusher.done)) {
    const int64_t left = deadline - base::ReadMonotonicNs();
    if (left <= 0) return;
    runtime::SysFutexWait(&flusher.done, 0, left, /*shared=*/false);
  }
}

}  // namespace rlscope::capture
