// The hot path of every producer: one record in a few instructions, no call, no lock.
//
//   if (rlscope::runtime::IsRecording()) {
//     rlscope::runtime::Write(rlscope::trace::kOperationEnter, id);
//   }
//
// IsRecording() must come first: after a raw clone the state page reads 0 while the thread's
// cursor still points into the parent's ring, and only the state's slow path resets it.
#ifndef RLSCOPE_RUNTIME_HOT_H_
#define RLSCOPE_RUNTIME_HOT_H_

#include <stdint.h>
#include <time.h>

#include "base/clock_kind.h"
#include "runtime/rlscope.h"
#include "trace/layout/record.h"

namespace rlscope::runtime {

// A member of rlscope_process, which other threads may change at any instant: an image opens, a
// window changes, a session ends. Each is read alone, and costs what a plain read does.
template <typename T>
inline __attribute__((always_inline)) T Load(const T& member) {
  return __atomic_load_n(&member, __ATOMIC_RELAXED);
}

// A test of the hot path, each of its own: the branch is not taken in the usual case. The branch
// predictor has forgotten it between two operators of PyTorch, and takes no branch it does not
// know.
inline __attribute__((always_inline)) bool IsRare(bool condition) {
  return __builtin_expect(condition, 0) != 0;
}

// The counter of the CPU: ticks of base::kCounterKind.
#if defined(__x86_64__)
inline __attribute__((always_inline)) uint64_t ReadCounter() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
inline __attribute__((always_inline)) uint64_t ReadCounter() {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#endif

// Asks for an address's cache line early, to write there. A line of a ring comes from another
// core's cache or from memory, and all later stores wait for it. CPUs without prefetchw
// pass it over.
inline __attribute__((always_inline)) void PrefetchToWrite(const void* address) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

// Two rdtsc cost as much as one clock_gettime; a process whose clock source is not the TSC
// (ClockKind::kMonotonic) counts nanoseconds.
inline __attribute__((always_inline)) uint64_t ReadTicks() {
  constexpr auto kMonotonic = static_cast<uint32_t>(base::ClockKind::kMonotonic);
  if (__builtin_expect(Load(rlscope_process.clock) != kMonotonic, 1)) return ReadCounter();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// About so many ticks of the process's clock; any number before the first image opens.
inline uint64_t TicksOf(uint64_t nanoseconds) {
  const uint32_t per_us =
      Load(rlscope_process.clock) == 2 ? 1000 : Load(rlscope_process.ticks_per_us);
  return nanoseconds * per_us / 1000;
}

// Whether the wrapper's window is another one than the process follows.
inline __attribute__((always_inline)) bool HasWindowChanged() {
  const uint32_t* word = Load(rlscope_process.window_word);
  return Load(*word) != Load(rlscope_process.window_seen);
}

// Whether this process records now. Follows the wrapper's windows at once: the word it compares
// lies in the mapped control page.
inline __attribute__((always_inline)) bool IsRecording() {
  const uint32_t state = Load(rlscope_process.state);
  if (__builtin_expect(state == RLSCOPE_OFF, 0)) return false;
  if (__builtin_expect(state == RLSCOPE_UNKNOWN, 0)) return rlscope_follow() != 0;
  if (__builtin_expect(HasWindowChanged(), 0)) {
    return rlscope_follow() != 0;
  }
  return state == RLSCOPE_RECORDING;
}

// Whether this process does not record now, runs no stopwatch, and has no change to follow: all
// that it costs to be attached while nothing is recorded. False: IsRecording() knows. `off`: which
// state is RLSCOPE_OFF, for probes.
inline __attribute__((always_inline)) bool IsIdle(uint32_t off = RLSCOPE_OFF) {
  const uint32_t state = Load(rlscope_process.state);
  if (state == off) return true;
  return state == RLSCOPE_PAUSED && !HasWindowChanged();
}

// The same for all but the annotations: nothing else has a stopwatch.
inline __attribute__((always_inline)) bool IsIdleOrTimed() {
  return IsIdle() || (Load(rlscope_process.state) == RLSCOPE_TIMED && !HasWindowChanged());
}

// Room for one slot in the calling thread's ring, and nothing that must be written before. False:
// the record is lost (and counted).
inline __attribute__((always_inline)) bool HasRoom() {
  const struct rlscope_thread* self = &rlscope_self;
  if (__builtin_expect(self->cursor != self->limit, 1) &&
      __builtin_expect(self->generation == Load(rlscope_process.generation), 1) &&
      __builtin_expect(self->call_start == 0, 1)) {
    return true;
  }
  return rlscope_make_room(1) != 0;
}

// How far ahead of its slot a record asks for a line to write: four cache lines are on their way at
// once. One takes 200 ns between cores that share no cache (docs/design/0011).
constexpr int kSlotsAhead = 16;

// Publishes one slot of a writer that has room. The word is stored last: it makes the slot valid.
inline __attribute__((always_inline)) void PublishTo(struct rlscope_thread* self, uint32_t kind,
                                                     uint32_t id, uint64_t ticks,
                                                     uint32_t duration) {
  struct rlscope_slot* slot = self->cursor;
  PrefetchToWrite(slot + kSlotsAhead);
  slot->tsc = ticks;
  slot->duration = duration;
  __atomic_store_n(&slot->word, trace::MakeWord(kind, id, self->lap), __ATOMIC_RELEASE);
  self->cursor = slot + 1;
}

// The same for the calling thread; HasRoom() was true.
inline __attribute__((always_inline)) void Publish(uint32_t kind, uint32_t id, uint64_t ticks,
                                                   uint32_t duration) {
  PublishTo(&rlscope_self, kind, id, ticks, duration);
}

// One record that happens now. Only after IsRecording(). The clock is read after room was made,
// so that time spent there is not inside what begins, and records stay in time order.
inline __attribute__((always_inline)) void Write(uint32_t kind, uint32_t id) {
  if (HasRoom()) Publish(kind, id, ReadTicks(), 0);
}

// One complete call [start, end), in ticks. A call longer than 2^32 ticks (about 1.4 s) does not
// fit the duration: it becomes a begin and an end.
inline void WriteCall(uint32_t id, uint64_t start, uint64_t end) {
  if (!HasRoom()) return;
  if (__builtin_expect(end - start <= UINT32_MAX, 1)) {
    Publish(trace::kCall, id, start, static_cast<uint32_t>(end - start));
    return;
  }
  Publish(trace::kCallBegin, id, start, 0);
  if (HasRoom()) Publish(trace::kCallEnd, id, end, 0);
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_HOT_H_
