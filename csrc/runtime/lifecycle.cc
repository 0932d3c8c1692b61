#include "runtime/lifecycle.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/proc.h"
#include "runtime/fork.h"
#include "runtime/helper.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/process_log.h"
#include "runtime/rings.h"
#include "runtime/syscalls.h"
#include "runtime/thread_times.h"
#include "runtime/threads.h"
#include "runtime/window.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// All weak: the musl and the glibc of a traced program have different ones of them.
extern "C" {
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void*)
    __attribute__((weak));
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
    __attribute__((weak));
int on_exit(void (*)(int, void*), void*) __attribute__((weak));
int __cxa_at_quick_exit(void (*)(void*), void*) __attribute__((weak));
}

namespace rlscope::runtime {

namespace {

constexpr int kLockTries = 50;  // milliseconds
constexpr int64_t kForkWaitNs = 50000000;
constexpr int64_t kExitWaitNs = 2000000000;  // for the last megabytes of a slow disk

// ---- fork -------------------------------------------------------------------------------------

bool fork_holds_lock = false;

void PrepareFork() {
  if (!IsHelperRunning()) return;
  fork_holds_lock = process_lock.TryAcquire(kLockTries);
  if (fork_holds_lock) StopHelper(HelperStop::kPause, kForkWaitNs);
}

// The calling thread meets the slow path at its next record, which starts the helper again.
void AfterForkInParent() {
  if (trace::ProcessPage* page = SharedPage()) {
    __atomic_fetch_add(&page->forks, 1, __ATOMIC_RELAXED);
  }
  if (fork_holds_lock) {
    if (OwnRing() != nullptr) rlscope_self.limit = rlscope_self.cursor;
    process_lock.Release();
  }
  fork_holds_lock = false;
}

void AfterForkInChild() {
  fork_holds_lock = false;
  if (process.directory[0] != '\0' && SysGetPid() != process.pid) BecomeForkChild();
}

// ---- exit -------------------------------------------------------------------------------------

// Returns the end of the process. Other threads record until then: the clock is read after them.
int64_t CloseRecording() {
  if (image.page == nullptr) {
    SetState(RLSCOPE_OFF);
    return base::ReadMonotonicNs();
  }
  FollowControl();
  if (State() == RLSCOPE_RECORDING && OwnRing() != nullptr) {
    WriteShortWaits(&rlscope_self);
    WriteHeldCall(&rlscope_self);
  }
  NoteTimesOfAllThreads();
  SetState(RLSCOPE_OFF);
  const int64_t end_ns = base::ReadMonotonicNs();
  image.page->python_end_ns = process.python_end_ns;
  __atomic_store_n(&image.page->closed, 1, __ATOMIC_RELEASE);
  if (IsHelperRunning()) StopHelper(HelperStop::kEnd, kExitWaitNs);
  return end_ns;
}

void AtExit(int status, void*) { EndProcess(status); }
void AtQuickExit(void*) { EndProcess(kUnknownStatus); }

__attribute__((destructor)) void AtUnload() {
  // on_exit() runs after this and knows the exit status.
  if (on_exit == nullptr) EndProcess(kUnknownStatus);
}

// ---- begin ------------------------------------------------------------------------------------

bool WasPreloaded() {
  const char* preload = base::GetEnv("LD_PRELOAD");
  return preload != nullptr && strstr(preload, "librlscope") != nullptr;
}

bool ReadDirectory() {
  const char* directory = base::GetEnv("RLSCOPE_DIR");
  if (directory == nullptr || directory[0] != '/') return false;
  if (strlen(directory) >= sizeof process.directory) return false;
  strcpy(process.directory, directory);
  return true;
}

enum rlscope_state TurnOff() {
  process.directory[0] = '\0';
  FollowNothing();
  SetState(RLSCOPE_OFF);
  return RLSCOPE_OFF;
}

enum rlscope_state Begin() {
  if (!ReadDirectory()) return TurnOff();
  const int saved_errno = errno;
  Identify();
  process.late = !WasPreloaded();
  trace::ProcessRecord record = MakeRecord(trace::ProcessEvent::kBegan);
  const bool writable = AppendRecords(process.directory, &record, 1) == 0;
  errno = saved_errno;
  if (!writable) return TurnOff();
  process.logged = true;
  WatchProcess();
  SetState(RLSCOPE_RECORDING);
  return RLSCOPE_RECORDING;
}

__attribute__((constructor)) void AtLoad() { rlscope_initialize(); }

}  // namespace

void Identify() {
  base::ProcStat stat;
  process.began_ns = base::ReadMonotonicNs();
  process.pid = SysGetPid();
  process.forked = process.ended = process.logged = false;
  process.gave_up = process.refused = process.cut = process.stopped = process.held = false;
  process.explicit_iterations = false;
  process.iteration_thread = nullptr;
  process.probes = base::GetEnvNumber("RLSCOPE_PROBES", 1) != 0;
  if (base::ReadProcStat(0, &stat)) {
    process.parent_pid = stat.parent_pid;
    process.start_time = stat.start_time;
    memset(process.comm, 0, sizeof process.comm);
    memcpy(process.comm, stat.comm, strnlen(stat.comm, sizeof process.comm));
  }
  process.generation++;
  Store(&rlscope_process.generation, process.generation);
  FollowNothing();
}

void WatchProcess() {
  static bool watched = false;
  if (watched) return;
  watched = true;
  process.wipes_on_fork =
      SysCall(SYS_madvise, Address(&rlscope_process), sizeof rlscope_process, MADV_WIPEONFORK) == 0;
  if (__register_atfork != nullptr) {
    __register_atfork(&PrepareFork, &AfterForkInParent, &AfterForkInChild, nullptr);
  } else if (pthread_atfork != nullptr) {
    pthread_atfork(&PrepareFork, &AfterForkInParent, &AfterForkInChild);
  }
  if (on_exit != nullptr) on_exit(&AtExit, nullptr);
  if (__cxa_at_quick_exit != nullptr) __cxa_at_quick_exit(&AtQuickExit, nullptr);
}

void EndProcess(int status) {
  if (State() == RLSCOPE_UNKNOWN) rlscope_initialize();
  if (IsVforkChild()) return;
  const int saved_errno = errno;
  const int64_t began_ns = base::ReadMonotonicNs();
  int64_t end_ns = began_ns;
  // The holder may be this thread, interrupted by the signal whose handler calls _exit().
  const bool locked = process_lock.TryAcquire(kLockTries);
  if (process.directory[0] != '\0' && !process.ended) {
    process.ended = true;
    if (locked) {
      end_ns = CloseRecording();
    } else {
      SetState(RLSCOPE_OFF);
    }
    LogEnd(status, began_ns, end_ns);
  }
  if (locked) process_lock.Release();
  errno = saved_errno;
}

void EndImage() {
  EndProcess(kUnknownStatus);
  LockGuard guard(&process_lock);
  if (process.directory[0] == '\0') return;
  process.directory[0] = '\0';
  process.generation++;
  Store(&rlscope_process.generation, process.generation);
  FollowNothing();
  DropRings(static_cast<Ring*>(rlscope_self.ring));
  ForgetThread(&rlscope_self);
  CloseImage();
}

}  // namespace rlscope::runtime

uint32_t rlscope_abi_version(void) { return RLSCOPE_INTERFACE; }

enum rlscope_state rlscope_initialize(void) {
  namespace runtime = rlscope::runtime;
  if (runtime::State() != RLSCOPE_UNKNOWN) return runtime::State();
  // A page that was wiped: a child made without the fork handlers.
  if (runtime::process.pid != 0) {
    runtime::BecomeForkChild();
    return runtime::State();
  }
  return runtime::Begin();
}
