#include "runtime/probe.h"

#include "runtime/hot.h"
#include "runtime/process.h"
#include "runtime/rings.h"

namespace rlscope::runtime {
namespace {

constexpr uint32_t kNever = UINT32_MAX;
// Two of an operation and how long that was, or one of a call; that of the probe; one spare.
constexpr int64_t kSlots = 5;

// As rlscope_thread.next_probe has them.
uint32_t TimeOf(uint64_t ticks) { return static_cast<uint32_t>(ticks >> RLSCOPE_PROBE_SHIFT); }

uint64_t ShortestPause() { return TicksOf(kShortestProbePauseNs); }

// A program that does the same in each of its processes and threads is not probed in the same
// places.
uint64_t Seed(const rlscope_thread* self, uint64_t ticks) {
  constexpr uint64_t kOdd = UINT64_C(0x9E3779B97F4A7C15);
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(self));
  uint64_t state = ((ticks ^ address) * kOdd ^ process.pid) | 1;
  NextRandom(&state);
  return state;
}

void BeginSequence(rlscope_thread* self, Ring* ring, uint64_t ticks) {
  // Records in nanoseconds take another way, and two readings cost more than what is measured.
  const bool can_probe =
      process.probes && Load(rlscope_process.clock) == static_cast<uint32_t>(base::kCounterKind);
  self->next_probe = kNever;
  if (!can_probe) return;
  ring->probe_random = Seed(self, ticks);
  ring->probes_passed = 0;
  self->next_probe =
      TimeOf(ticks + RandomPart(2 * ShortestPause(), NextRandom(&ring->probe_random)));
}

// A due probe is not the next record's in the usual case.
bool LetsPass(const rlscope_thread& self, Ring* ring, uint64_t ticks) {
  if (ring->probes_passed == 0) {
    ring->probes_passed =
        1 + static_cast<uint32_t>(RandomPart(kMostPassedBy, NextRandom(&ring->probe_random)));
  }
  const bool are_rare = TimeOf(ticks) - self.next_probe > 1 + TimeOf(ShortestPause());
  return --ring->probes_passed != 0 && !are_rare;
}

// Nothing that a probe writes takes a slow path: that would be its time, and may be anything.
bool IsUsual(const rlscope_thread& self) {
  return Load(rlscope_process.state) == RLSCOPE_RECORDING && !HasWindowChanged() &&
         self.limit - self.cursor >= kSlots && self.call_start == 0 &&
         self.generation == Load(rlscope_process.generation);
}

// 32 bits of it: a probe may be preempted for longer.
uint32_t Duration(uint64_t ticks) {
  return static_cast<uint32_t>(ticks < UINT32_MAX ? ticks : UINT32_MAX);
}

bool IsOfProbe(const rlscope_slot& slot, uint32_t kind) {
  return trace::KindOf(slot.word) == kind && trace::IdOf(slot.word) == trace::kProbeOperation;
}

// How long the operation of a probe was, from its own two records; a call's record says so itself.
void PublishInside(rlscope_thread* self, uint64_t end_ticks) {
  if (self->cursor - static_cast<const Ring*>(self->ring)->slots < 2) return;
  const rlscope_slot* exit = self->cursor - 1;
  const rlscope_slot* enter = exit - 1;
  const bool are_both =
      IsOfProbe(*enter, trace::kOperationEnter) && IsOfProbe(*exit, trace::kOperationExit);
  if (!are_both) return;
  PublishTo(self, trace::kProbeRecord, 0, end_ticks, Duration(exit->tsc - enter->tsc));
}

void PublishProbe(rlscope_thread* self, uint32_t probe, uint64_t ticks, uint64_t end_ticks) {
  const bool has_slots = self->limit - self->cursor >= 2 && self->call_start == 0 &&
                         self->generation == Load(rlscope_process.generation);
  if (probe >= trace::kProbeKinds || !has_slots) return;
  if (probe == trace::kProbeRecordedOperation) PublishInside(self, end_ticks);
  PublishTo(self, trace::kProbe, probe, end_ticks, Duration(ticks));
}

}  // namespace
}  // namespace rlscope::runtime

uint32_t rlscope_begin_probe(uint64_t ticks) {
  namespace runtime = rlscope::runtime;
  rlscope_thread* self = &rlscope_self;
  auto* ring = static_cast<runtime::Ring*>(self->ring);
  if (ring == nullptr) return 0;
  if (ring->probe_random == 0) {
    runtime::BeginSequence(self, ring, ticks);
    return 0;
  }
  if (!runtime::IsUsual(*self) || runtime::LetsPass(*self, ring, ticks)) return 0;
  ring->probes_passed = 0;
  self->next_probe = runtime::kNever;  // of what the probe itself records
  return static_cast<uint32_t>(runtime::NextRandom(&ring->probe_random) >> 32) | 1;
}

void rlscope_end_probe(uint32_t probe, uint64_t start_ticks, uint64_t end_ticks,
                       uint64_t began_ticks) {
  namespace runtime = rlscope::runtime;
  rlscope_thread* self = &rlscope_self;
  runtime::PublishProbe(self, probe, end_ticks - start_ticks, end_ticks);
  auto* ring = static_cast<runtime::Ring*>(self->ring);
  if (ring == nullptr) {
    self->next_probe = 0;  // another one begins
    return;
  }
  const uint64_t now = runtime::ReadTicks();
  const uint64_t pause = runtime::ProbePause(now - began_ticks, runtime::ShortestPause(),
                                             runtime::NextRandom(&ring->probe_random));
  self->next_probe = runtime::TimeOf(now + pause);
}
