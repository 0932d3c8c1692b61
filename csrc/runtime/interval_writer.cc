#include "runtime/interval_writer.h"

#include <string.h>

#include "runtime/first_record.h"
#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/recorder.h"
#include "runtime/syscalls.h"
#include "runtime/threads.h"

namespace rlscope::runtime {

namespace {

using trace::RingUse;

int (*runs_no_python)(void) = nullptr;  // rlscope_set_outside_test()

IntervalWriter gpu_writer;

// Needs process_lock. False: no ring can be had.
bool GiveRing(IntervalWriter* writer, uint32_t thread, RingUse use) {
  Ring* ring = TakeRing(trace::kFirstRingBytes, use);
  if (ring == nullptr) ring = TakeRecycledRing(0, use);
  if (ring == nullptr) {
    CountLoss(trace::kNoRing, 1);
    return false;
  }
  writer->self.thread = thread;
  writer->self.generation = Load(rlscope_process.generation);
  UseRing(&writer->self, ring, 0);
  return true;
}

bool IsNew(const rlscope_thread& self) {
  return self.thread == 0 || self.generation != Load(rlscope_process.generation);
}

bool EnsureGpuRing() {
  if (gpu_writer.self.ring != nullptr &&
      gpu_writer.self.generation == Load(rlscope_process.generation)) {
    return true;
  }
  LockGuard guard(&process_lock);
  if (gpu_writer.self.ring != nullptr) DropRing(static_cast<Ring*>(gpu_writer.self.ring));
  memset(&gpu_writer, 0, sizeof gpu_writer);
  return IsImageOpen() && GiveRing(&gpu_writer, 0, RingUse::kGpu);
}

}  // namespace

uint32_t cuda_session = 0;

void CountCutCall() { CountLoss(trace::kGpuWindowEdge, 1); }

void ForgetOpenCall(IntervalWriter* writer) {
  const uint32_t window = Load(rlscope_process.window), session = Load(cuda_session);
  if (writer->depth != 0 && writer->window == window) CountCutCall();
  writer->window = window;
  writer->session = session;
  writer->depth = 0;
}

IntervalWriter* MakeCallWriter() {
  if (!rlscope_follow()) return nullptr;
  rlscope_thread* self = &rlscope_self;
  const bool native = IsNew(*self) && runs_no_python != nullptr && runs_no_python() != 0;
  LockGuard guard(&process_lock);
  if (!IsImageOpen()) return nullptr;
  NumberThread(self, native && SysGetTid() != process.pid);
  Ring* ring = EnsureRing(self);
  if (ring == nullptr) return nullptr;
  if (ring->calls != nullptr) return ring->calls;
  IntervalWriter* writer = NewWriter();
  if (writer == nullptr) return nullptr;
  if (!GiveRing(writer, self->thread, RingUse::kCudaCalls)) {
    FreeWriter(writer);
    return nullptr;
  }
  writer->window = Load(rlscope_process.window);
  writer->session = Load(cuda_session);
  ring->calls = writer;
  return writer;
}

bool MakeIntervalRoom(IntervalWriter* writer, uint32_t slots) {
  if (!rlscope_follow()) return false;
  RestartHelper();
  return MakeRoomIn(&writer->self, static_cast<Ring*>(writer->self.ring), slots) != 0;
}

bool WriteGpuWork(const trace::GpuWork& work, uint32_t name) {
  constexpr uint32_t kSlots = trace::SlotsOf(trace::kGpuWork);
  if (!EnsureGpuRing()) return false;
  rlscope_thread* self = &gpu_writer.self;
  if (self->limit - self->cursor < kSlots) {
    RestartHelper();
    if (MakeRoomIn(self, static_cast<Ring*>(self->ring), kSlots) == 0) return false;
  }
  trace::Slot packed[kSlots];
  trace::PackGpuWork(work, packed);
  rlscope_slot* slots = self->cursor;
  for (uint32_t i = 1; i < kSlots; i++) {
    slots[i].tsc = packed[i].tsc;
    slots[i].duration = packed[i].duration;
    __atomic_store_n(&slots[i].word, trace::MakeWord(trace::kContinued, 0, self->lap),
                     __ATOMIC_RELAXED);
  }
  PublishTo(self, trace::kGpuWork, name, packed[0].tsc, packed[0].duration);
  self->cursor = slots + kSlots;
  return true;
}

void ForgetIntervals() { memset(&gpu_writer, 0, sizeof gpu_writer); }

}  // namespace rlscope::runtime

void rlscope_set_outside_test(int (*runs_no_python)(void)) {
  rlscope::runtime::runs_no_python = runs_no_python;
}
