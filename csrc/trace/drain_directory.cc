#include "trace/drain_directory.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "base/own_thread.h"
#include "base/proc.h"
#include "trace/image_file.h"
#include "trace/process_log_view.h"
#include "trace/ring_disk.h"
#include "trace/run_notes.h"

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
constexpr uint32_t kMaxOpenFiles = 256;  // more images than this reopen their file for each pass
constexpr char kSuffix[] = ".process";

struct Entry {
  char name[80];  // "<pid>.<start_time>.<began_ns>"
  ImageFile file;
  bool left = false;    // not ours any more: the sink refused, or
  bool helped = false;  // the process drains itself
  Entry(const char* image, DrainScratch* scratch) : file(scratch) {
    snprintf(name, sizeof name, "%s", image);
  }
};

void WaitForWake(uint32_t* word, uint32_t seen, int64_t ns) {
  const struct timespec timeout = {ns / kSecond, ns % kSecond};
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

// For the few instructions of a copy; pthread_mutex_t would need libpthread.
class SpinGuard {
 public:
  explicit SpinGuard(uint32_t* word) : word_(word) {
    while (__atomic_exchange_n(word_, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ~SpinGuard() { __atomic_store_n(word_, 0, __ATOMIC_RELEASE); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  uint32_t* word_;
};

int64_t ThreadCpuNs() {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void Add(DrainStats* sum, const DrainStats& stats) {
  sum->events += stats.events;
  sum->chunks += stats.chunks;
  sum->rings += stats.rings;
  sum->lost += stats.lost;
}

}  // namespace

struct DrainDirectory::State {
  char directory[4096] = "";
  char rings[4096 + 16];
  ControlPage* control = nullptr;
  DrainScratch* scratch = nullptr;
  ProcessLogView log;
  Entry** entries = nullptr;
  uint32_t count = 0, capacity = 0;
  uint64_t own_namespace = 0;

  pthread_t thread;
  bool running = false;
  uint32_t stop = 0;
  uint32_t generation = 0;
  int64_t next_second = 0;
  DirectoryStats ended;             // of images that are closed
  DirectoryStats shown;             // ended plus those that are open; under shown_lock
  mutable uint32_t shown_lock = 0;  // held for a copy of 60 bytes

  State() : log(directory) {}
  ~State() { free(entries); }

  void Loop();
  void Pass();
  void Beat();
  void Discover();
  void Adopt(const char* image);
  bool Knows(const char* image) const;
  void DrainEntry(Entry* entry, bool final);
  bool FindEnd(const Entry& entry, ImageEnd* end);
  void Close(uint32_t index);
  void CloseGone();
  bool EndHelped(Entry* entry, const ImageEnd& end);
  void CheckDisk();
  void CountStats();
  DirectoryStats Shown() const;
  bool AnyBusy() const;
};

// ---- the loop ---------------------------------------------------------------------------------

void DrainDirectory::State::Beat() {
  const StoreTimer timer;
  __atomic_store_n(&control->heartbeat_ns, base::ReadMonotonicNs(), __ATOMIC_RELEASE);
  const int64_t waited = timer.WaitedNs();
  const bool beside_rings = control->trace_rings[0] == '\0';
  if (waited <= kLongStoreNs || !beside_rings) return;
  ended.stalls++;
  if (waited > ended.longest_stall_ns) ended.longest_stall_ns = waited;
}

void DrainDirectory::State::Loop() {
  while (__atomic_load_n(&stop, __ATOMIC_ACQUIRE) == 0) {
    const uint32_t wake = __atomic_load_n(&control->wake, __ATOMIC_ACQUIRE);
    Pass();
    ended.cpu_ns = ThreadCpuNs();
    CountStats();
    WaitForWake(&control->wake, wake, AnyBusy() ? kBusySleepNs : kSleepNs);
  }
}

bool DrainDirectory::State::AnyBusy() const {
  for (uint32_t i = 0; i < count; i++) {
    if (!entries[i]->left && entries[i]->file.image().busy()) return true;
  }
  return false;
}

void DrainDirectory::State::Pass() {
  Beat();
  const int64_t now = base::ReadMonotonicNs();
  const uint32_t seen = __atomic_load_n(&control->generation, __ATOMIC_ACQUIRE);
  const bool second = now >= next_second;
  if (seen != generation || second) Discover();
  generation = seen;
  for (uint32_t i = 0; i < count; i++) {
    DrainEntry(entries[i], /*final=*/false);
    Beat();
  }
  CloseGone();
  if (second) {
    CheckDisk();
    next_second = now + kSecond;
  }
}

void DrainDirectory::State::DrainEntry(Entry* entry, bool final) {
  if (entry->left) return;
  if (entry->file.image().taken_over()) {
    entry->left = entry->helped = true;
    return;
  }
  if (!entry->file.Drain(final)) {
    entry->left = true;
    SetDiskFull(control);
  }
  if (count > kMaxOpenFiles) entry->file.CloseDescriptor();
}

void DrainDirectory::State::CheckDisk() {
  if (IsDiskFull(directory, control->min_free_bytes)) SetDiskFull(control);
}

// ---- images -----------------------------------------------------------------------------------

bool DrainDirectory::State::Knows(const char* image) const {
  for (uint32_t i = count; i > 0; i--) {
    if (strcmp(entries[i - 1]->name, image) == 0) return true;
  }
  return false;
}

void DrainDirectory::State::Adopt(const char* image) {
  if (Knows(image)) return;
  if (count == capacity) {
    const uint32_t larger = capacity == 0 ? 16 : capacity * 2;
    void* memory = realloc(entries, larger * sizeof *entries);
    if (memory == nullptr) return;
    entries = static_cast<Entry**>(memory);
    capacity = larger;
  }
  void* memory = malloc(sizeof(Entry));
  if (memory == nullptr) return;
  auto* entry = new (memory) Entry(image, scratch);
  if (entry->file.Open(directory, rings, image) != 0) {
    entry->~Entry();  // not complete yet (next time), or not one of ours
    free(entry);
    return;
  }
  entries[count++] = entry;
}

void DrainDirectory::State::Discover() {
  DIR* folder = opendir(rings);
  if (folder == nullptr) return;
  while (const struct dirent* file = readdir(folder)) {
    const size_t length = strlen(file->d_name);
    const size_t suffix = sizeof kSuffix - 1;
    if (length <= suffix || strcmp(file->d_name + length - suffix, kSuffix) != 0) continue;
    char image[sizeof Entry::name];
    if (length - suffix >= sizeof image) continue;
    memcpy(image, file->d_name, length - suffix);
    image[length - suffix] = '\0';
    Adopt(image);
  }
  closedir(folder);
}

// Whether the image is gone, and how it ended. Its own word first: a zombie that said goodbye, a
// process of a pid namespace that cannot be seen from here.
bool DrainDirectory::State::FindEnd(const Entry& entry, ImageEnd* end) {
  const ProcessPage& page = *const_cast<Entry&>(entry).file.image().page();
  const LoggedImage* logged = log.Find(page.pid, page.start_time, page.began_ns);
  const bool visible =
      logged == nullptr || logged->pid_namespace == 0 || logged->pid_namespace == own_namespace;
  const int64_t replaced = log.ReplacedNs(page.pid, page.start_time, page.began_ns);
  const bool said = logged != nullptr && logged->end_ns != 0;
  const bool gone = visible ? replaced != 0 || !base::IsAlive(page.pid, page.start_time) : said;
  if (!gone) return false;
  end->exited = said;
  end->end_ns = said ? logged->end_ns : replaced != 0 ? replaced : base::ReadMonotonicNs();
  end->python_end_ns = said ? logged->python_end_ns : 0;
  return true;
}

// Removes an entry, whether it was ended in order or is left to others.
void DrainDirectory::State::Close(uint32_t index) {
  Entry* entry = entries[index];
  Add(&ended.drain, entry->file.image().stats());
  ended.bytes += entry->file.bytes();
  entry->~Entry();
  free(entry);
  entries[index] = entries[--count];
}

// Once a second for all, at once for those that said they ended: asking /proc for 64 processes at
// every pass would cost more than draining them.
void DrainDirectory::State::CloseGone() {
  const bool all =
      base::ReadMonotonicNs() >= next_second || __atomic_load_n(&stop, __ATOMIC_ACQUIRE) != 0;
  bool refreshed = false;
  for (uint32_t i = count; i > 0; i--) {
    Entry* entry = entries[i - 1];
    const bool mine = !entry->left || entry->helped;
    if (!mine || (!all && !entry->file.image().closed())) continue;
    if (!refreshed) log.Refresh();
    refreshed = true;
    ImageEnd end;
    if (!FindEnd(*entry, &end)) continue;
    if (entry->helped ? EndHelped(entry, end) : entry->file.End(end)) {
      Close(i - 1);
    } else {
      entry->left = true;
      entry->helped = false;
      SetDiskFull(control);
    }
  }
}

// The process drained itself and is gone. If it ended in order, nothing is left; if not, the rest
// of its rings and its EndChunk go to a file of their own, beside ours and its.
bool DrainDirectory::State::EndHelped(Entry* entry, const ImageEnd& end) {
  ImageFile rest(scratch);
  if (rest.Open(directory, rings, entry->name) != 0) return true;
  const bool complete = rest.End(end);
  ended.bytes += rest.bytes();
  Add(&ended.drain, rest.image().stats());
  return complete;
}

void DrainDirectory::State::CountStats() {
  DirectoryStats sum = ended;
  for (uint32_t i = 0; i < count; i++) {
    Add(&sum.drain, entries[i]->file.image().stats());
    sum.bytes += entries[i]->file.bytes();
  }
  sum.disk_full = __atomic_load_n(&control->disk_full, __ATOMIC_RELAXED) != 0;
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
  state_->~State();
  free(state_);
}

int DrainDirectory::Start(const char* directory, const char* rings, const DrainOptions& options) {
  if (state_ == nullptr) return ENOMEM;
  State& state = *state_;
  if (state.running) return EALREADY;
  if (realpath(directory, state.directory) == nullptr) return errno;
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
  state.own_namespace = base::PidNamespace();
  base::ProcStat self;
  const bool known = base::ReadProcStat(0, &self);
  state.control->drainer_start_time = known ? self.start_time : 0;
  state.Beat();
  __atomic_store_n(&state.control->drainer_pid, static_cast<uint32_t>(getpid()), __ATOMIC_RELEASE);
  state.CheckDisk();
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
  __atomic_store_n(&state.stop, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&state.control->wake, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &state.control->wake, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  pthread_join(state.thread, nullptr);
  state.running = false;
  state.Discover();
  state.CloseGone();
  // Those that live on get all they recorded so far into their file, and help themselves from now.
  for (uint32_t i = 0; i < state.count; i++) state.DrainEntry(state.entries[i], /*final=*/true);
  state.CountStats();
  __atomic_store_n(&state.control->drainer_pid, 0, __ATOMIC_RELEASE);
  while (state.count > 0) state.Close(state.count - 1);
  if (state.control->trace_rings[0] != '\0') rmdir(state.rings);  // succeeds when nobody is left
  ReleaseControl(state.control);
  FreeDrainScratch(state.scratch);
  state.control = nullptr;
  state.scratch = nullptr;
}

void DrainDirectory::SetRecording(bool on) {
  if (state_ == nullptr || !state_->running || !trace::SetRecording(state_->control, on)) return;
  LogWindow(state_->directory, on ? kWindowStarts : kWindowStops);
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
