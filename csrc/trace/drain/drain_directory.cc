#include "trace/drain/drain_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "base/own_thread.h"
#include "base/page_guard.h"
#include "base/proc.h"
#include "trace/drain/drained_images.h"
#include "trace/drain/mapped_file.h"
#include "trace/drain/process_log_view.h"
#include "trace/drain/ring_disk.h"
#include "trace/drain/run_bytes.h"
#include "trace/drain/run_notes.h"
#include "trace/drain/source_files.h"
#include "trace/drain/spin_guard.h"

// A program made before glibc 2.34 may lack libpthread; such a process cannot drain.
extern "C" int pthread_join(pthread_t, void**) __attribute__((weak));

namespace rlscope::trace {
namespace {

constexpr int64_t kSecond = 1000000000;
// Between passes. Rings that are half full, and new files, wake the drainer, so it comes by itself
// for the heartbeat only: four times in the second after which producers take it for dead. Passes
// every 5 ms while rings filled cost 0.5 % of a CPU for 2,500 records a second.
constexpr int64_t kBusySleepNs = 5000000;
constexpr int64_t kSleepNs = 250000000;
// Between questions which threads are awake and where. A question costs some 30 us and 15 us a
// thread; where that is more than a part in 100 of a CPU, the time between them is longer. What a
// question costs depends on where the threads are, so the time follows the mean of the last ones:
// otherwise a line deep in a stack would be found less often than one that is not.
constexpr int64_t kSampleNs = 10000000;
constexpr int64_t kSampleParts = 100;
constexpr int64_t kMeanOf = 64;

// So that questions are not in step with the loop of a program: 3/4 to 5/4 of the time.
int64_t OutOfStep(int64_t ns, uint32_t* random) {
  *random = *random * 1664525 + 1013904223;
  return ns * 3 / 4 + ns / 2 * (*random >> 16) / 65536;
}

void WaitForWake(uint32_t* word, uint32_t seen, int64_t ns) {
  const struct timespec timeout = {ns / kSecond, ns % kSecond};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

int64_t ThreadCpuNs() {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

struct DrainDirectory::State {
  int folder = -1;            // the trace directory
  char directory[4096] = "";  // a path of it that stays right when it is renamed
  char rings[4096 + 16];
  ControlPage* control = nullptr;
  int control_file = -1;  // to see whether it was removed
  DrainScratch* scratch = nullptr;
  uint64_t max_bytes = 0;   // of all files of the run; 0: no limit
  uint64_t kept_bytes = 0;  // of these, in files that RunBytes() does not count
  ByteBudget budget;
  SourceFiles files;
  DrainedImages images;

  pthread_t thread;
  bool running = false;
  uint32_t stop = 0;
  uint32_t next_files = 0;  // 1: begin them
  uint32_t generation = 0;
  int64_t next_second = 0, next_touch = 0, next_sample = 0;
  int64_t sample_cpu_ns = 0;  // kMeanOf times the mean cost of a question
  uint32_t random = 1;
  DirectoryStats own;               // of the drainer itself, not of images
  DirectoryStats shown;             // with the images'; under shown_lock
  mutable uint32_t shown_lock = 0;  // held for a copy of 100 bytes

  State() : images(directory, rings) {}

  int OpenFolder(const char* path);
  void CloseFolder();
  void Loop();
  void Pass();
  void Rest(uint32_t wake, int64_t ns);
  void Sample(int64_t now);
  void Beat();
  void Wake();
  void BeginNextFiles();
  bool IsStopped() const { return __atomic_load_n(&stop, __ATOMIC_ACQUIRE) != 0; }
  void OpenControl();
  void CheckDisk();
  void CheckSize();
  static uint64_t CountLeft(void* state);
  void CheckRemoved();
  void CountStats();
  DirectoryStats Shown() const;
  void CutIf(int error);
};

// ---- the directory ----------------------------------------------------------------------------

int DrainDirectory::State::OpenFolder(const char* path) {
  CloseFolder();
  folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno;
  snprintf(directory, sizeof directory, "/proc/self/fd/%d", folder);
  if (access(directory, X_OK) == 0) return 0;
  return realpath(path, directory) != nullptr ? 0 : errno;  // no /proc here
}

void DrainDirectory::State::CloseFolder() {
  if (folder >= 0) close(folder);
  folder = -1;
}

void DrainDirectory::State::OpenControl() {
  char path[sizeof directory + 16];
  snprintf(path, sizeof path, "%s/rings/control", directory);
  control_file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

// ---- the loop ---------------------------------------------------------------------------------

void DrainDirectory::State::Beat() {
  const StoreTimer timer;
  __atomic_store_n(&control->heartbeat_ns, base::ReadMonotonicNs(), __ATOMIC_RELEASE);
  const int64_t waited = timer.WaitedNs();
  const bool beside_rings = control->trace_rings[0] == '\0';
  if (waited <= kLongStoreNs || !beside_rings) return;
  own.stalls++;
  if (waited > own.longest_stall_ns) own.longest_stall_ns = waited;
}

void DrainDirectory::State::Loop() {
  const base::PageGuard guard;
  base::WakeOwnThreadSoon();
  while (!IsStopped()) {
    const uint32_t wake = __atomic_load_n(&control->wake, __ATOMIC_ACQUIRE);
    Pass();
    own.cpu_ns = ThreadCpuNs();
    CountStats();
    Rest(wake, images.AnyBusy() ? kBusySleepNs : kSleepNs);
  }
}

// Until the drainer is woken or the time has passed.
void DrainDirectory::State::Rest(uint32_t wake, int64_t ns) {
  int64_t now = base::ReadMonotonicNs();
  const int64_t end = now + ns;
  while (now < end && __atomic_load_n(&control->wake, __ATOMIC_ACQUIRE) == wake) {
    if (now >= next_sample) Sample(now);
    const int64_t until = next_sample < end ? next_sample : end;
    if (until > now) WaitForWake(&control->wake, wake, until - now);
    now = base::ReadMonotonicNs();
  }
}

void DrainDirectory::State::Sample(int64_t now) {
  const int64_t before_ns = ThreadCpuNs();
  images.SampleThreads();
  sample_cpu_ns += ThreadCpuNs() - before_ns - sample_cpu_ns / kMeanOf;
  const int64_t least_ns = kSampleParts * sample_cpu_ns / kMeanOf;
  next_sample = now + OutOfStep(least_ns > kSampleNs ? least_ns : kSampleNs, &random);
}

void DrainDirectory::State::Wake() {
  __atomic_fetch_add(&control->wake, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &control->wake, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void DrainDirectory::State::BeginNextFiles() {
  const int64_t now = base::ReadMonotonicNs();
  images.Discover();
  for (uint32_t i = 0; i < images.count(); i++) {
    CutIf(images.BeginNext(i));
    Beat();
  }
  own.flushed_ns = now;
}

void DrainDirectory::State::Pass() {
  if (__atomic_exchange_n(&next_files, 0, __ATOMIC_ACQ_REL) != 0) BeginNextFiles();
  Beat();
  const int64_t now = base::ReadMonotonicNs();
  const uint32_t seen = __atomic_load_n(&control->generation, __ATOMIC_ACQUIRE);
  const bool second = now >= next_second;
  if (seen != generation || second) {
    images.Discover();
    CheckSize();
  }
  generation = seen;
  for (uint32_t i = 0; i < images.count(); i++) {
    CutIf(images.Drain(i, /*final=*/false));
    Beat();
  }
  CutIf(images.CloseGone(/*all=*/second || IsStopped()));
  if (second) {
    CheckDisk();
    CheckRemoved();
    next_second = now + kSecond;
  }
  if (now >= next_touch) {
    TouchControl(directory);
    next_touch = now + kTouchNs;
  }
}

void DrainDirectory::State::CutIf(int error) {
  if (error != 0) Cut(control, static_cast<uint32_t>(error));
}

void DrainDirectory::State::CheckDisk() {
  if (IsDiskFull(directory, control->min_free_bytes)) Cut(control, kNearlyFull);
}

uint64_t DrainDirectory::State::CountLeft(void* state) {
  const auto* self = static_cast<const State*>(state);
  const uint64_t kept = __atomic_load_n(&self->kept_bytes, __ATOMIC_RELAXED);
  const uint64_t used = RunBytes(self->directory) + kept;
  return used < self->max_bytes ? self->max_bytes - used : 0;
}

// Every second, and when there is a new file among the rings: those grow by new files only.
void DrainDirectory::State::CheckSize() {
  if (max_bytes == 0) return;
  budget.Set(CountLeft(this));
  if (budget.IsSpent()) Cut(control, kLargestSize);
}

void DrainDirectory::State::CheckRemoved() {
  images.CheckRemoved();
  if (IsRemoved(control_file)) Cut(control, ENOENT);
}

void DrainDirectory::State::CountStats() {
  DirectoryStats sum = own;
  images.AddTo(&sum.drain, &sum.bytes, &sum.removed);
  sum.cut = __atomic_load_n(&control->cut, __ATOMIC_RELAXED);
  sum.cut_ns = control->cut_ns;
  sum.helped = images.helped();
  sum.gone_pages = base::PagesReplaced();
  const SpinGuard guard(&shown_lock);
  shown = sum;
}

DirectoryStats DrainDirectory::State::Shown() const {
  const SpinGuard guard(&shown_lock);
  return shown;
}

// ---- the class --------------------------------------------------------------------------------

DrainDirectory::DrainDirectory() : state_(nullptr) {
  void* memory = calloc(1, sizeof(State));
  if (memory != nullptr) state_ = new (memory) State();
}

DrainDirectory::~DrainDirectory() {
  if (state_ == nullptr) return;
  Stop();
  state_->CloseFolder();
  state_->~State();
  free(state_);
}

int DrainDirectory::Start(const char* directory, const char* rings, const DrainOptions& options) {
  if (state_ == nullptr) return ENOMEM;
  State& state = *state_;
  if (state.running) return EALREADY;
  if (const int error = state.OpenFolder(directory)) return error;
  state.scratch = NewDrainScratch();
  if (state.scratch == nullptr) return ENOMEM;
  if (const int error = CreateControl(state.directory, rings, options, &state.control)) {
    FreeDrainScratch(state.scratch);
    state.scratch = nullptr;
    return error;
  }
  if (state.control->trace_rings[0] != '\0') {
    snprintf(state.rings, sizeof state.rings, "%s", state.control->trace_rings);
  } else {
    snprintf(state.rings, sizeof state.rings, "%s/rings", state.directory);
  }
  state.OpenControl();
  state.max_bytes = options.max_bytes;
  if (state.max_bytes != 0) state.budget.Ask(State::CountLeft, &state);
  state.scratch->files = &state.files;
  state.scratch->reads_stacks = options.stacks;
  state.images.Use(state.scratch, &state.budget);
  base::ProcStat self;
  const bool known = base::ReadProcStat(0, &self);
  state.control->drainer_start_time = known ? self.start_time : 0;
  state.Beat();
  __atomic_store_n(&state.control->drainer_pid, static_cast<uint32_t>(getpid()), __ATOMIC_RELEASE);
  state.CheckDisk();
  state.CheckSize();
  state.stop = 0;
  const auto body = [](void* argument) -> void* {
    static_cast<State*>(argument)->Loop();
    return nullptr;
  };
  const int error = base::StartOwnThread(&state.thread, body, &state);
  if (error == 0) state.running = true;
  return error;
}

void DrainDirectory::Stop() {
  if (state_ == nullptr || !state_->running) return;
  State& state = *state_;
  const base::PageGuard guard;
  __atomic_store_n(&state.stop, 1, __ATOMIC_RELEASE);
  state.Wake();
  pthread_join(state.thread, nullptr);
  state.running = false;
  state.CheckRemoved();
  state.images.Discover();
  state.CutIf(state.images.CloseGone(/*all=*/true));
  // Those that live on get all they recorded so far into their file, and help themselves from now.
  for (uint32_t i = 0; i < state.images.count(); i++) {
    state.CutIf(state.images.Drain(i, /*final=*/true));
  }
  state.CountStats();
  __atomic_store_n(&state.control->drainer_pid, 0, __ATOMIC_RELEASE);
  state.images.CloseAll();
  if (state.control->trace_rings[0] != '\0') rmdir(state.rings);  // succeeds when it is empty
  ReleaseControl(state.control);
  FreeDrainScratch(state.scratch);
  if (state.control_file >= 0) close(state.control_file);
  state.control_file = -1;
  state.control = nullptr;
  state.scratch = nullptr;
}

void DrainDirectory::SetRecording(bool on) {
  const base::PageGuard guard;
  if (state_ == nullptr || !state_->running || !trace::SetRecording(state_->control, on)) return;
  LogWindow(state_->directory, on ? kWindowStarts : kWindowStops);
}

void DrainDirectory::EndProgram() {
  const base::PageGuard guard;
  if (state_ == nullptr || !state_->running) return;
  __atomic_store_n(&state_->control->exit_after, 1, __ATOMIC_RELAXED);
}

void DrainDirectory::SetKeptBytes(uint64_t bytes) {
  if (state_ != nullptr) __atomic_store_n(&state_->kept_bytes, bytes, __ATOMIC_RELAXED);
}

void DrainDirectory::BeginNextFiles() {
  const base::PageGuard guard;
  if (state_ == nullptr || !state_->running) return;
  __atomic_store_n(&state_->next_files, 1, __ATOMIC_RELEASE);
  state_->Wake();
}

size_t DrainDirectory::TakeSourceFiles(char* names, size_t bytes) {
  return state_ == nullptr ? 0 : state_->files.Take(names, bytes);
}

void DrainDirectory::VisitAlive(void (*visit)(void* context, uint32_t pid, const char* name),
                                void* context) {
  if (state_ == nullptr) return;
  ProcessLogView log(state_->directory);
  log.Refresh();
  for (uint32_t i = 0; i < log.count(); i++) {
    const LoggedImage& image = log[i];
    if (image.end_ns != 0 || log.ReplacedNs(image.pid, image.start_time, image.began_ns) != 0) {
      continue;
    }
    if (base::IsAlive(image.pid, image.start_time)) visit(context, image.pid, image.name);
  }
}

DirectoryStats DrainDirectory::stats() const {
  return state_ == nullptr ? DirectoryStats() : state_->Shown();
}

}  // namespace rlscope::trace
