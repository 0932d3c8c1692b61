#include "runtime/recorder.h"

#include "base/clock.h"
#include "runtime/first_record.h"
#include "runtime/helper.h"
#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"
#include "runtime/threads.h"
#include "runtime/window.h"

namespace rlscope::runtime {
namespace {

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kLongestWaitNs = 100000000;
constexpr int64_t kFirstSleepNs = 50000;  // a woken drainer needs about that for half a ring
constexpr int64_t kLongestSleepNs = 1000000;
constexpr uint64_t kLookEvery = 1024;  // lost records between two looks at the drainer

uint64_t UsedSlots(const Ring& ring, uint64_t position) {
  const uint64_t used = position - __atomic_load_n(&ring.page->tail, __ATOMIC_ACQUIRE);
  return used > ring.capacity ? ring.capacity : used;
}

// A record does not cross the end of the ring: slots that are left over are padded.
void PadToEnd(rlscope_thread* self, Ring* ring, uint32_t slots) {
  const auto left = static_cast<uint32_t>(ring->slots + ring->capacity - self->cursor);
  if (left >= slots) return;
  for (uint32_t i = 0; i < left; i++) WriteReserved(self, trace::kPad, 0, ReadTicks());
}

// Opens the ring up to the end of this quarter, or to what the drainer has left. False: not even
// `slots` fit beside the reserve.
bool SetLimit(rlscope_thread* self, Ring* ring, uint32_t slots) {
  PadToEnd(self, ring, slots);
  if (self->cursor == ring->slots + ring->capacity) {
    ring->lap_base += ring->capacity;
    self->cursor = self->limit = ring->slots;
    self->lap = trace::LapOf(ring->lap_base, ring->capacity);
  }
  const uint64_t position = PositionOf(*ring, *self);
  __atomic_store_n(&ring->page->head, position, __ATOMIC_RELEASE);
  const uint64_t free = ring->capacity - UsedSlots(*ring, position);
  if (free < slots + kReservedSlots) return false;
  const uint64_t quarter = ring->capacity / 4;
  uint64_t end = (position / quarter + 1) * quarter;
  if (end - position < slots) end += quarter;
  const uint64_t room = position + free - kReservedSlots;
  self->limit = ring->slots + ((end < room ? end : room) - ring->lap_base);
  return true;
}

// Goes on in a ring of twice the size. False: the process has its share, or no file could be made.
bool Grow(rlscope_thread* self, Ring* ring) {
  const uint64_t bytes = ring->capacity * sizeof(rlscope_slot) * 2;
  if (bytes > trace::kLargestRingBytes) return false;
  LockGuard guard(&process_lock);
  const bool same_session = self->generation == Load(rlscope_process.generation);
  if (!IsImageOpen() || !same_session) return false;  // another thread ended it
  const uint64_t start = ReadTicks();
  Ring* larger = TakeRing(bytes, static_cast<trace::RingUse>(ring->page->use));
  if (larger == nullptr) return false;
  larger->lost = ring->lost;
  larger->short_waits = ring->short_waits;
  larger->short_wait_ticks = ring->short_wait_ticks;
  larger->calls = ring->calls;
  ring->lost = 0;
  const uint32_t previous = ring->page->number;
  LeaveRing(self, trace::kRingEnd, larger->page->number);
  UseRing(self, larger, previous);
  // Making the file is our doing as much as waiting is: milliseconds for 4 MiB.
  const uint64_t now = ReadTicks();
  WriteReservedValue(self, trace::kWait, now - start, now);
  return true;
}

bool IsDrainerAlive() {
  const trace::ControlPage* control = SharedControl();
  if (control == nullptr) return false;
  const uint32_t pid = __atomic_load_n(&control->drainer_pid, __ATOMIC_ACQUIRE);
  constexpr long kNoSuchProcess = -3;
  if (pid == 0 || SysCall(SYS_kill, pid, 0) == kNoSuchProcess) return false;
  const int64_t beat = __atomic_load_n(&control->heartbeat_ns, __ATOMIC_ACQUIRE);
  return base::ReadMonotonicNs() - beat < kSecond;
}

// Somebody drains: the wrapper, or our own helper, started here if need be.
bool HasDrainer() {
  if (IsHelperRunning() || IsDrainerAlive()) return true;
  LockGuard guard(&process_lock);
  return StartHelper();
}

// The same where a ring is full. False: it will not be drained, and recording has stopped.
bool EnsureDrainer() {
  if (HasDrainer()) return true;
  LockGuard guard(&process_lock);
  if (StartHelper()) return true;
  if (IsImageOpen()) GiveUp();
  return false;
}

// Waits at most 100 ms until an eighth of the ring is free. The wait is a record of its own.
bool WaitForRoom(rlscope_thread* self, Ring* ring) {
  const uint64_t start = ReadTicks();
  const int64_t deadline = base::ReadMonotonicNs() + kLongestWaitNs;
  const uint64_t position = PositionOf(*ring, *self);
  int64_t sleep = kFirstSleepNs;
  bool room = false;
  while (!room && base::ReadMonotonicNs() < deadline) {
    if (!EnsureDrainer()) return false;
    WakeDrainer();
    SysSleep(sleep);
    if (sleep < kLongestSleepNs) sleep *= 2;
    room = UsedSlots(*ring, position) <= ring->capacity - ring->capacity / 8;
  }
  if (room) {
    const uint64_t now = ReadTicks();
    WriteReservedValue(self, trace::kWait, now - start, now);
  }
  return room;
}

// A record that is lost: counted in the ring and the process page, and reported by a kGap later.
int Lose(Ring* ring) {
  ring->lost++;
  __atomic_store_n(&ring->page->lost, ring->page->lost + 1, __ATOMIC_RELAXED);
  CountLoss(trace::kLostRecords, 1);
  if (ring->lost % kLookEvery == 0) EnsureDrainer();
  return 0;
}

}  // namespace

void RestartHelper() {
  if (IsHelperRunning()) return;
  const trace::ControlPage* control = SharedControl();
  if (control == nullptr || __atomic_load_n(&control->drainer_pid, __ATOMIC_ACQUIRE) != 0) return;
  LockGuard guard(&process_lock);
  StartHelper();
}

namespace {

// Records were lost. Recording goes on only when a quarter of the ring is free: else a drainer that
// is a little late would leave a gap after every few records.
bool EndGap(rlscope_thread* self, Ring* ring) {
  const uint64_t position = PositionOf(*ring, *self);
  if (UsedSlots(*ring, position) > ring->capacity - ring->capacity / 4) return false;
  if (!WriteReservedValue(self, trace::kGap, ring->lost, ReadTicks())) return false;
  ring->lost = 0;
  return true;
}

// Half full: the drainer should come. Three quarters: it is late, and a larger ring helps. Or it
// was killed. It is replaced while rings are small: a helper that begins with megabytes to drain
// for every thread is not done in the 100 ms that a thread waits.
void CheckLoad(rlscope_thread* self, Ring* ring, uint32_t slots) {
  const uint64_t used = UsedSlots(*ring, PositionOf(*ring, *self));
  if (used < ring->capacity / 2) return;
  WakeDrainer();
  if (used < ring->capacity / 4 * 3) return;
  HasDrainer();
  if (Grow(self, ring)) SetLimit(self, static_cast<Ring*>(self->ring), slots);
}

}  // namespace

int MakeRoomIn(rlscope_thread* self, Ring* ring, uint32_t slots) {
  if (ring->lost != 0 && !EndGap(self, ring)) return Lose(ring);
  if (SetLimit(self, ring, slots)) {
    CheckLoad(self, ring, slots);
    return 1;
  }
  if (Grow(self, ring)) return SetLimit(self, static_cast<Ring*>(self->ring), slots) ? 1 : 0;
  if (!WaitForRoom(self, ring)) return Lose(ring);
  return SetLimit(self, ring, slots) ? 1 : Lose(ring);
}

void EndShortWaits(rlscope_thread* self) {
  auto* ring = static_cast<Ring*>(self->ring);
  WriteShortWaits(self);
  if (ring->lost == 0) SetLimit(self, ring, 1);
}

}  // namespace rlscope::runtime

using rlscope::runtime::EnsureRing;
using rlscope::runtime::OwnRing;

int rlscope_make_room(uint32_t slots) {
  if (!rlscope_follow()) return 0;
  rlscope_thread* self = &rlscope_self;
  rlscope::runtime::Ring* ring = OwnRing();
  if (ring == nullptr) {
    rlscope::runtime::LockGuard guard(&rlscope::runtime::process_lock);
    ring = EnsureRing(self);
  }
  if (ring == nullptr) return 0;
  rlscope::runtime::RestartHelper();
  rlscope::runtime::WriteShortWaits(self);
  if (self->call_start != 0) {
    rlscope::runtime::WriteHeldCall(self);
    if (self->limit - self->cursor >= static_cast<int64_t>(slots)) return 1;
  }
  return rlscope::runtime::MakeRoomIn(self, ring, slots);
}

void rlscope_record(uint32_t kind, uint32_t id) {
  if (rlscope::runtime::IsRecording()) rlscope::runtime::Write(kind, id);
}

void rlscope_record_value(uint32_t kind, uint32_t id, uint64_t value) {
  namespace trace = rlscope::trace;
  if (!rlscope::runtime::IsRecording()) return;
  rlscope_thread* self = &rlscope_self;
  const bool has_room =
      OwnRing() != nullptr && self->limit - self->cursor >= 2 && self->call_start == 0;
  if (!has_room && !rlscope_make_room(2)) return;
  rlscope_slot* second = self->cursor + 1;
  second->tsc = value;
  second->duration = 0;
  __atomic_store_n(&second->word, trace::MakeWord(trace::kContinued, 0, self->lap),
                   __ATOMIC_RELEASE);
  rlscope::runtime::Publish(kind, id, rlscope::runtime::ReadTicks(), 0);
  self->cursor = second + 1;
}

uint64_t rlscope_slots_of_thread(void) {
  const rlscope::runtime::Ring* ring = OwnRing();
  return ring == nullptr ? 0 : rlscope::runtime::PositionOf(*ring, rlscope_self);
}

void rlscope_count_loss(uint32_t loss, uint64_t count) {
  if (loss < rlscope::trace::kLossKinds) {
    rlscope::runtime::CountLoss(static_cast<rlscope::trace::Loss>(loss), count);
  }
}
