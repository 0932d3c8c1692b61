#include "runtime/first_record.h"

#include "base/clock.h"
#include "runtime/helper.h"
#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/threads.h"

namespace rlscope::runtime {
namespace {

constexpr int64_t kPauseNs = 100000000;  // after a refusal
constexpr uint32_t kMostUnringed = (1u << 24) - 1;

void (*first_record_hook)() = nullptr;
int64_t no_ring_until = 0;  // CLOCK_MONOTONIC; a refused file is not asked for at every record

}  // namespace

Ring* EnsureRing(rlscope_thread* self) {
  if (!IsImageOpen()) return nullptr;
  if (Ring* ring = OwnRing()) return ring;
  NumberThread(self);
  const int64_t now = base::ReadMonotonicNs();
  constexpr trace::RingUse kUse = trace::RingUse::kThread;
  Ring* ring = now < no_ring_until ? nullptr : TakeRing(trace::kFirstRingBytes, kUse);
  if (ring == nullptr) ring = TakeRecycledRing(0, kUse);
  if (ring == nullptr) {
    if (now >= no_ring_until) no_ring_until = now + kPauseNs;
    if (self->unringed < kMostUnringed) self->unringed++;
    CountLoss(trace::kNoRing, 1);
    WakeDrainer();
    return nullptr;
  }
  UseRing(self, ring, 0);
  if (self->unringed != 0 && WriteReservedValue(self, trace::kGap, self->unringed, ReadTicks())) {
    self->unringed = 0;
  }
  if (image.control->drainer_pid == 0) StartHelper();
  if (first_record_hook != nullptr) first_record_hook();
  return ring;
}

void SetFirstRecordHook(void (*hook)()) { first_record_hook = hook; }

}  // namespace rlscope::runtime
