#include "cupti/flusher.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/own_thread.h"
#include "cupti/activities.h"
#include "cupti/gaps.h"
#include "cupti/gpu_window.h"
#include "cupti/note.h"
#include "cupti/subscription.h"
#include "runtime/interval_writer.h"
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"

extern "C" {
int pthread_detach(pthread_t) __attribute__((weak));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void*)
    __attribute__((weak));
}

namespace rlscope::cupti {
namespace {

constexpr int64_t kPeriodNs = 200000000;
constexpr int64_t kLookPeriodNs = 1000000000;
constexpr int64_t kEndWaitNs = 2000000000;
constexpr int kForkTries = 50;     // milliseconds
constexpr int kTurnsPerRetry = 4;  // a second
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
int turns_until_retry = 0;
int64_t silent_since_ns = 0;  // of CUPTI: the last flush that brought something, or a pause's end
const Cupti* (*deferred)() = nullptr;  // CUDA began in a pause: how it is attached after that
bool fork_holds_lock = false;

// How GPU work is recorded. Windows begin with kOpen, but with --gpu-share auto when the first one
// is to end: until then all is as without them.
//
//   kWhole
//     v
//   kOpen --closed--> kClosing --a wait--> kWaited --flushed--> kEnding --a wait--> kEnded
//     ^                                                                               |
//     +---------------------------------- kCalls <------------------------------------+
//
// A wait is the end of a synchronisation of the program. The first one says that the work of the
// window is done. The flush is none of CUPTI's callbacks', and the second one ends CUPTI in one, as
// NVIDIA advises.
enum class Stage {
  kWhole,    // there is no window
  kOpen,     // records of work are made, and kept
  kClosing,  // they are made; those of launches up to the close are kept
  kWaited,
  kEnding,
  kEnded,  // CUPTI is not attached
  kCalls   // callbacks alone
};
Stage stage = Stage::kWhole;
bool wants_work = true;
bool is_kept = false;       // CUPTI is neither attached nor ended
bool was_ended = false;     // by us, before kEnded
bool told_refusal = false;  // once until it is given again

int64_t ReadNs(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

bool IsOurs() { return flusher.pid == runtime::SysGetPid(); }

// Whether CUPTI may be flushed beside the program's calls.
bool FlushesAtAnyTime() { return !flusher.flushes_at_synchronizations; }

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
  note.Problem(Missing::kNothingWhole, "times of GPU work are wrong",
               "CUPTI gave times outside the life of the process", 0);
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

void DescribeCupti(Note* note) {
  note->Text("library", flusher.cupti->path);
  note->Number("version", flusher.cupti->version);
}

// The other profiler keeps the subscription when a pause ends, for a while or for good. If it ended
// CUPTI as a whole (cuptiFinalize), it ended our records with it: a gap, since the last of them.
void RetrySubscription() {
  if (turns_until_retry-- > 0) return;
  turns_until_retry = kTurnsPerRetry;
  Note note;
  DescribeCupti(&note);
  if (!SubscribeIfRefused(*flusher.cupti, &note)) return;
  BeginGap(trace::kCudaPaused, silent_since_ns);
  EndGap();
  note.Number("resumed_ns", static_cast<uint64_t>(base::ReadMonotonicNs()));
  note.Problem(Missing::kNothingWhole, "CUDA calls are missing from a pause until resumed_ns",
               "another profiler held CUPTI's one subscription", 0);
  note.Write();
}

void FlushComplete() { FlushesAtAnyTime() ? Flush(kComplete) : Read(); }

// Whether CUPTI makes records. It must not be called otherwise: a flush attaches it again.
bool HasRecords() { return stage <= Stage::kEnding; }

void FlushInTurn() {
  if (!HasRecords()) return;
  const uint64_t before = RecordsRead();
  FlushComplete();
  if (RecordsRead() != before) silent_since_ns = base::ReadMonotonicNs();
  CheckRecords(RecordsRead(), /*is_last=*/false);
  RetrySubscription();
}

void FlushLast() {
  if (!HasRecords()) return;
  Flush(kForced);
  CheckRecords(RecordsRead(), /*is_last=*/true);
}

// ---- windows of GPU work, which need `flushing` -------------------------------------------------

void SetUnseen(uint32_t unseen) {
  __atomic_store_n(&runtime::process.gpu_unseen, unseen, __ATOMIC_RELAXED);
}

void AwaitSynchronization(Stage meanwhile) {
  stage = meanwhile;
  __atomic_store_n(&awaits_wait, 1, __ATOMIC_RELEASE);
}

// Calls of other threads: the records of their work, or their ends, may not come any more.
void CutOpenCalls() { __atomic_fetch_add(&runtime::cuda_session, 1, __ATOMIC_RELEASE); }

void CloseWindow() {
  CloseGpuWindow();
  SetUnseen(runtime::kGpuUnseenNow);
  ExpectRecords(false);
  ForgetSynchronization();
  AwaitSynchronization(Stage::kClosing);
}

void FlushWindow() {
  Flush(kComplete);
  Flush(kForced);
  CutOpenCalls();
  DropGpuWork();
  AwaitSynchronization(Stage::kEnding);
}

// `unseen`: of the iteration that runs.
void OpenWindow(uint32_t unseen) {
  // Other threads launch, and what they launched since the iteration began is missing.
  if (OpenGpuWindow() != runtime::process.last_call_before) unseen |= runtime::kGpuUnseenBefore;
  SetUnseen(unseen);
  ForgetSynchronization();
  silent_since_ns = base::ReadMonotonicNs();
  stage = Stage::kOpen;
}

bool KeepsCalls() { return !IsEnv("RLSCOPE_GPU_CALLS", "windows"); }

// CUPTI has been ended, or given to another profiler.
void BeginSession() {
  BeginNumbers();
  CutOpenCalls();
  __atomic_store_n(&awaits_wait, 0, __ATOMIC_RELEASE);
  stage = Stage::kEnded;
}

// From kEnded or kCalls.
void TakeParts(uint32_t unseen) {
  Note note;
  DescribeCupti(&note);
  if (was_ended) TakeBuffersBack();
  was_ended = false;
  if (stage == Stage::kEnded && !SubscribeToCalls(*flusher.cupti, &note)) {
    if (!told_refusal) note.Write();
    told_refusal = true;
    return;
  }
  told_refusal = false;
  stage = Stage::kCalls;
  if (!wants_work) return;
  StartWork(*flusher.cupti, &note);
  OpenWindow(unseen);
}

void Turn(uint32_t unseen) {
  if (stage == Stage::kOpen && !wants_work) CloseWindow();
  if (stage == Stage::kWaited) FlushWindow();
  const bool is_off = stage == Stage::kEnded || stage == Stage::kCalls;
  const bool lacks_calls = stage == Stage::kEnded && KeepsCalls();
  if (is_off && (wants_work || lacks_calls) && !IsCapturing()) TakeParts(unseen);
}

// Another profiler may have CUPTI, or its one subscription, or be given our records.
bool MayBeginWindows() { return !paused && !is_kept && HasSubscription() && !IsDisplaced(); }

rlscope_gpu_state GpuState() {
  if (stage == Stage::kWhole) return MayBeginWindows() ? RLSCOPE_GPU_RECORDED : RLSCOPE_GPU_CLOSING;
  if (stage == Stage::kOpen) return RLSCOPE_GPU_RECORDED;
  if (paused) return RLSCOPE_GPU_OFF;
  const bool lacks_calls = stage == Stage::kEnded && KeepsCalls() && !told_refusal;
  return HasRecords() || lacks_calls ? RLSCOPE_GPU_CLOSING : RLSCOPE_GPU_OFF;
}

// ---- looking for CUDA ---------------------------------------------------------------------------

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
  __atomic_store_n(&runtime::process.cupti_cpu_ns, ReadNs(CLOCK_THREAD_CPUTIME_ID),
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
  stage = Stage::kWhole;
  wants_work = true;
  is_kept = was_ended = told_refusal = false;
  awaits_wait = 0;
  SetUnseen(0);
  ForgetGpuWindow();
  KeepParts(RLSCOPE_CUDA_CALLS | RLSCOPE_CUDA_WORK);
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

bool StartFlusher(const Cupti* cupti, bool begins_with_window) {
  stage = begins_with_window ? Stage::kOpen : Stage::kWhole;
  return Start(cupti, nullptr);
}

void WatchForCuda(const Cupti* (*attach)()) {
  if (!IsOurs()) Start(nullptr, attach);
}

void PauseFlusher() {
  runtime::LockGuard guard(&flushing);
  if (paused) return;
  paused = true;
  if (flusher.cupti == nullptr || !IsOurs()) return;
  if (HasRecords()) {
    StopActivities(*flusher.cupti);
    Flush(kForced);
  }
  Unsubscribe(*flusher.cupti);
  if (stage != Stage::kWhole) {
    if (stage == Stage::kOpen) CloseGpuWindow();
    SetUnseen(runtime::kGpuUnseenNow);
    BeginSession();
  }
  BeginGap(trace::kCudaPaused, base::ReadMonotonicNs());
}

uint32_t awaits_wait = 0;

rlscope_gpu_state TurnCupti(bool recorded) {
  runtime::LockGuard guard(&flushing);
  if (!HasCupti() || gpu_window.are_used == 0) return RLSCOPE_GPU_WHOLE;
  if (stage == Stage::kWhole && !recorded && MayBeginWindows()) stage = Stage::kOpen;
  if (stage == Stage::kWhole) return GpuState();
  wants_work = recorded;
  if (!paused && !is_kept) Turn(0);
  return GpuState();
}

void KeepCupti(bool kept) {
  runtime::LockGuard guard(&flushing);
  is_kept = kept;
}

void NoticeWait() {
  if (!IsOurs() || !flushing.TryAcquire(0)) return;
  if (stage == Stage::kClosing && !paused) {
    stage = Stage::kWaited;
    __atomic_store_n(&awaits_wait, 0, __ATOMIC_RELEASE);
  } else if (stage == Stage::kEnding && !paused && !is_kept && !IsCapturing()) {
    EndSubscription(*flusher.cupti);
    BeginSession();
    was_ended = true;
  }
  flushing.Release();
}

bool HasCupti() { return __atomic_load_n(&flusher.cupti, __ATOMIC_RELAXED) != nullptr && IsOurs(); }

bool SwitchCupti(uint32_t on) {
  runtime::LockGuard guard(&flushing);
  if (!HasCupti()) return false;
  if (paused) {
    KeepParts(on);
  } else {
    FlushComplete();
    SwitchParts(*flusher.cupti, on);
  }
  return true;
}

bool DeferWhilePaused(const Cupti* (*attach)()) {
  runtime::LockGuard guard(&flushing);
  if (!paused) return false;
  deferred = attach;
  BeginGap(trace::kCudaPaused, base::ReadMonotonicNs());
  return true;
}

void ResumeFlusher() {
  runtime::LockGuard guard(&flushing);
  if (!paused) return;
  paused = false;
  if (deferred != nullptr) {
    if (const Cupti* cupti = deferred()) Start(cupti, nullptr);
    deferred = nullptr;
  } else if (flusher.cupti != nullptr && IsOurs() && stage != Stage::kWhole) {
    Turn(runtime::kGpuUnseenBefore);
  } else if (flusher.cupti != nullptr && IsOurs()) {
    Note note;
    DescribeCupti(&note);
    ForgetCaptures();
    SubscribeAgain(*flusher.cupti, &note);
    note.Write();
    silent_since_ns = base::ReadMonotonicNs();
    turns_until_retry = kTurnsPerRetry;
  }
  EndGap();
}

void FlushAtSynchronization() {
  if (FlushesAtAnyTime() || !IsOurs() || !flushing.TryAcquire(0)) return;
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

}  // namespace rlscope::cupti
