#include "runtime/threads.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/open_wait.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"
#include "runtime/thread_times.h"

__thread struct rlscope_thread rlscope_self __attribute__((tls_model("initial-exec")));

// Weak: in a program without libpthread (before glibc 2.34) there is one thread, and it never ends.
extern "C" int pthread_key_create(pthread_key_t*, void (*)(void*)) __attribute__((weak));
extern "C" int pthread_setspecific(pthread_key_t, const void*) __attribute__((weak));

namespace rlscope::runtime {
namespace {

using trace::LapOf;

// rlscope_thread.ring points to its Ring. Thread ends are seen through a thread-specific key.
pthread_key_t end_key;
bool has_end_key = false;

void EndCalls(IntervalWriter* writer) {
  LeaveRing(&writer->self, trace::kThreadEnd, 0);
  FreeWriter(writer);
}

void EndThread(void* pointer) {
  auto* self = static_cast<rlscope_thread*>(pointer);
  LockGuard guard(&process_lock);
  auto* ring = static_cast<Ring*>(self->ring);
  if (ring == nullptr) return;
  if (ring->generation != rlscope_process.generation) {
    DropRing(ring);
    self->ring = nullptr;
  } else {
    if (ring->calls != nullptr) EndCalls(ring->calls);
    WriteShortWaits(self);
    WriteHeldCall(self);
    NoteThreadTimes(self->thread, SysGetTid(), trace::kThreadEnds);
    LeaveRing(self, trace::kThreadEnd, 0);
  }
  ForgetThread(self);
}

void WatchEnd(rlscope_thread* self) {
  if (pthread_key_create == nullptr || pthread_setspecific == nullptr) return;
  if (!has_end_key) has_end_key = pthread_key_create(&end_key, &EndThread) == 0;
  if (has_end_key) pthread_setspecific(end_key, self);
}

// Slots that are not given out yet, the reserved ones included.
uint64_t FreeSlots(const Ring& ring, uint64_t position) {
  const uint64_t tail = __atomic_load_n(&ring.page->tail, __ATOMIC_ACQUIRE);
  const uint64_t used = position - tail;
  return used > ring.capacity ? 0 : ring.capacity - used;
}

void Wrap(rlscope_thread* self, Ring* ring) {
  if (self->cursor != ring->slots + ring->capacity) return;
  ring->lap_base += ring->capacity;
  self->cursor = ring->slots;
  self->limit = ring->slots;
  self->lap = LapOf(ring->lap_base, ring->capacity);
}

void PublishSlot(rlscope_thread* self, uint32_t kind, uint32_t id, uint64_t ticks) {
  PublishTo(self, kind, id, ticks, 0);
  if (self->limit < self->cursor) self->limit = self->cursor;
}

}  // namespace

Ring* OwnRing() {
  return rlscope_self.generation == Load(rlscope_process.generation)
             ? static_cast<Ring*>(rlscope_self.ring)
             : nullptr;
}

uint32_t NumberThread(rlscope_thread* self, bool native) {
  if (self->thread != 0 && self->generation == rlscope_process.generation) return self->thread;
  if (self->ring != nullptr) DropRing(static_cast<Ring*>(self->ring));  // of an earlier session
  ForgetThread(self);
  self->generation = rlscope_process.generation;
  self->thread = ++image.page->threads;
  char name[16] = "";
  SysCall(SYS_prctl, PR_GET_NAME, Address(name));
  const uint16_t flags = process.python && !native ? trace::kPythonThread : 0;
  const uint32_t os_tid = SysGetTid();
  AppendEntry(trace::EntryKind::kThread, flags, self->thread, os_tid, name,
              strnlen(name, sizeof name));
  NoteThreadTimes(self->thread, os_tid, 0);
  WatchEnd(self);
  return self->thread;
}

void UseRing(rlscope_thread* self, Ring* ring, uint32_t previous) {
  const uint64_t position = ring->page->head;  // where its last thread stopped
  ring->page->thread = self->thread;
  ring->page->previous = previous;
  ring->lap_base = position & ~(ring->capacity - 1);
  self->ring = ring;
  ring->probe_random = 0;
  self->cursor = ring->slots + (position - ring->lap_base);
  self->limit = self->cursor;
  self->lap = LapOf(position, ring->capacity);
  const bool is_thread = ring->page->use == static_cast<uint32_t>(trace::RingUse::kThread);
  if (is_thread) ring->os_tid = SysGetTid();
  if (previous == 0 && is_thread) {
    WriteReserved(self, trace::kThreadBegin, self->thread, ReadTicks());
  }
  const bool is_new = ring->page->magic == 0;
  __atomic_store_n(&ring->page->magic, trace::kRingMagic, __ATOMIC_RELEASE);
  if (!is_new) return;
  __atomic_store_n(&image.page->ring_files, ring->page->number, __ATOMIC_RELEASE);
  AnnounceFile();
}

bool WriteReserved(rlscope_thread* self, uint32_t kind, uint32_t id, uint64_t ticks) {
  auto* ring = static_cast<Ring*>(self->ring);
  Wrap(self, ring);
  if (FreeSlots(*ring, PositionOf(*ring, *self)) < 1) return false;
  PublishSlot(self, kind, id, ticks);
  return true;
}

// A pair of slots never crosses the end of the ring.
bool WriteReservedValue(rlscope_thread* self, uint32_t kind, uint64_t value, uint64_t ticks) {
  auto* ring = static_cast<Ring*>(self->ring);
  Wrap(self, ring);
  const bool last = self->cursor + 1 == ring->slots + ring->capacity;
  if (FreeSlots(*ring, PositionOf(*ring, *self)) < (last ? 3 : 2)) return false;
  if (last) {
    PublishSlot(self, trace::kPad, 0, ticks);
    Wrap(self, ring);
  }
  rlscope_slot* second = self->cursor + 1;
  second->tsc = value;
  second->duration = 0;
  __atomic_store_n(&second->word, trace::MakeWord(trace::kContinued, 0, self->lap),
                   __ATOMIC_RELEASE);
  PublishTo(self, kind, 0, ticks, 0);
  self->cursor = second + 1;
  if (self->limit < self->cursor) self->limit = self->cursor;
  return true;
}

void WriteHeldCall(rlscope_thread* self) {
  if (self->call_start == 0) return;
  HideOpenWait(*self);
  // One that began in an earlier window is closed there: its end must not be written.
  const uint32_t late = self->call_start < Load(rlscope_process.window_start) ? 1 : 0;
  if (WriteReserved(self, trace::kCallBegin, trace::IdOf(self->call), self->call_start)) {
    self->call = (Load(rlscope_process.window) - late) << 1 | 1;
  } else {
    CountLoss(trace::kLostRecords, 1);
  }
  self->call_start = 0;
}

void WriteShortWaits(rlscope_thread* self) {
  auto* ring = static_cast<Ring*>(self->ring);
  if (ring->short_waits == 0) return;
  const uint64_t count = ring->short_waits;
  if (WriteReservedValue(self, trace::kShortWaits, count, ring->short_wait_ticks)) {
    ring->short_waits = 0;
  }
}

void LeaveRing(rlscope_thread* self, uint32_t kind, uint32_t id) {
  auto* ring = static_cast<Ring*>(self->ring);
  if (ring->lost != 0 && WriteReservedValue(self, trace::kGap, ring->lost, ReadTicks())) {
    ring->lost = 0;
  }
  WriteReserved(self, kind, id, ReadTicks());
  Wrap(self, ring);
  GiveRingBack(ring, PositionOf(*ring, *self));
  self->ring = nullptr;
  self->cursor = self->limit = nullptr;
}

void ForgetThread(rlscope_thread* self) {
  self->cursor = self->limit = nullptr;
  self->ring = nullptr;
  self->context = nullptr;  // the new stream begins outside any task: the next one is a change
  self->context_version = UINT32_MAX;  // seen by the first annotation, whatever wrote before it
  self->thread = 0;
  self->call = 0;
  self->call_start = 0;
  self->unringed = 0;
  self->next_probe = 0;
}

}  // namespace rlscope::runtime
