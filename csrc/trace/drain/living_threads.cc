#include "trace/drain/living_threads.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"

namespace rlscope::trace {
namespace {

constexpr uint32_t kMostThreads = 1024;  // asked in each pass; what is beyond has no reading
constexpr int kMostOpen = 128;           // files that all images keep open: a process may have 1,024

int open_files = 0;  // atomic

}  // namespace

LivingThreads::~LivingThreads() {
  for (uint32_t i = 0; i < count_; i++) Close(&threads_[i]);
  free(threads_);
}

bool LivingThreads::MakeRoom() {
  if (count_ != capacity_) return true;
  const uint32_t larger = capacity_ == 0 ? 8 : capacity_ * 2;
  void* memory = larger > kMostThreads ? nullptr : realloc(threads_, larger * sizeof *threads_);
  if (memory == nullptr) return false;
  threads_ = static_cast<Living*>(memory);
  capacity_ = larger;
  return true;
}

void LivingThreads::Begin(uint32_t thread, uint32_t os_tid) {
  if (MakeRoom()) threads_[count_++] = {thread, os_tid, {}, -1};
}

void LivingThreads::End(uint32_t thread) {
  for (uint32_t i = count_; i > 0; i--) {
    if (threads_[i - 1].thread != thread) continue;
    Close(&threads_[i - 1]);
    threads_[i - 1] = threads_[--count_];
    return;
  }
}

void LivingThreads::Read(uint32_t pid) {
  for (uint32_t i = 0; i < count_; i++) {
    base::SchedulerTimes times;
    const int64_t now = base::ReadMonotonicNs();
    if (!base::ReadSchedulerTimes(pid, threads_[i].os_tid, &times)) continue;
    threads_[i].times = {times.running_ns, times.runnable_ns, now};
  }
}

bool LivingThreads::Find(uint32_t os_tid, uint32_t* thread) const {
  for (uint32_t i = 0; i < count_; i++) {
    if (threads_[i].os_tid != os_tid) continue;
    *thread = threads_[i].thread;
    return true;
  }
  return false;
}

void LivingThreads::Close(Living* living) {
  if (living->state_file < 0) return;
  close(living->state_file);
  living->state_file = -1;
  __atomic_sub_fetch(&open_files, 1, __ATOMIC_RELAXED);
}

char LivingThreads::StateOf(uint32_t pid, Living* living) {
  if (living->state_file >= 0) return base::ReadThreadState(living->state_file);
  const int descriptor = base::OpenThreadState(pid, living->os_tid);
  if (descriptor < 0) return 0;
  const char state = base::ReadThreadState(descriptor);
  living->state_file = descriptor;
  if (__atomic_add_fetch(&open_files, 1, __ATOMIC_RELAXED) > kMostOpen) Close(living);
  return state;
}

void LivingThreads::AddAwake(uint32_t pid, StateSamples* samples) {
  for (uint32_t i = 0; i < count_; i++) {
    const char state = StateOf(pid, &threads_[i]);
    if (state == 'R' || state == 0) samples->AddAwake(threads_[i].thread);
  }
}

int LivingThreads::Write(Sink* sink, ChunkBuffer* buffer) const {
  for (uint32_t i = 0; i < count_; i++) {
    if (threads_[i].times.read_ns == 0) continue;
    const ThreadFields fields = {threads_[i].thread, 0, false, {}, threads_[i].times};
    if (const int error = WriteThreads(sink, buffer, &fields, 1)) return error;
  }
  return 0;
}

}  // namespace rlscope::trace
