// The trace's clock: raw ticks while recording, and the one function that turns a tick into a
// nanosecond of CLOCK_MONOTONIC.
//
// A tick is a TSC cycle where the kernel itself trusts the TSC (clocksource tsc, constant_tsc and
// nonstop_tsc), because rdtsc costs half a clock_gettime; cntvct_el0 on aarch64; else a
// nanosecond of CLOCK_MONOTONIC.
#ifndef RLSCOPE_BASE_CLOCK_H_
#define RLSCOPE_BASE_CLOCK_H_

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock_kind.h"

namespace rlscope::base {

// ---- reading --------------------------------------------------------------------------------

// CLOCK_MONOTONIC in nanoseconds. Any thread; async-signal-safe.
inline int64_t ReadMonotonicNs() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Which clock this machine's ticks should come from. Opens one small file below /sys, so call it
// once, when recording begins, and keep the answer. kMonotonic whenever in doubt: another
// clocksource, a refused open, a CPU without invariant TSC, rdtsc switched off by
// prctl(PR_SET_TSC).
ClockKind DetectClock();

// The same for callers that read /sys/devices/system/clocksource/clocksource0/current_clocksource
// themselves; `clocksource` is its text, with or without the newline.
ClockKind ChooseClock(const char* clocksource);

// The current tick. `kind` must be what DetectClock() returned on this machine (or kMonotonic).
inline uint64_t ReadTicks(ClockKind kind) {
#if defined(__x86_64__)
  if (__builtin_expect(kind == ClockKind::kTsc, 1)) return __rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(kind == ClockKind::kVirtualCounter, 1)) {
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  (void)kind;
  return static_cast<uint64_t>(ReadMonotonicNs());
}

// One instant on both clocks.
struct ClockPair {
  uint64_t ticks;
  int64_t ns;  // CLOCK_MONOTONIC
};

// The best of eight bracketed readings: ticks, clock_gettime, ticks; the narrowest bracket wins
// and its middle is taken, so that a preemption in one reading does not bend the time line. About
// half a microsecond. kMonotonic: both members are the same number.
ClockPair ReadClockPair(ClockKind kind);

// Ticks per second of the clock between two pairs; 0 when they are less than a microsecond apart.
uint64_t TickHz(const ClockPair& earlier, const ClockPair& later);

// Ticks per second when there is only one pair: from CPUID leaf 0x15 or the hypervisor's timing
// leaf, cntfrq_el0 on aarch64, else measured over 2 ms of waiting. 1,000,000,000 for kMonotonic.
uint64_t EstimateTickHz(ClockKind kind);

// ---- converting -----------------------------------------------------------------------------

// One stretch between two clock pairs:
//   ns(t) = ns + whole * (t - ticks) + floor(fraction * (t - ticks) / 2^64)
// `whole` and `fraction` are quotient and remainder of the slope, rounded down, so ns(t) never
// passes the next pair: the line is monotone and meets every pair exactly.
struct ClockSegment {
  uint64_t ticks;
  int64_t ns;
  uint64_t whole;
  uint64_t fraction;
};

// Converts ticks to nanoseconds, piecewise linear through clock pairs, with the nearest slope
// outside of them. Convert boundaries, never durations: a duration is the difference of two
// converted boundaries, so that sums stay exact. Saturates at +-kMaxNs, never overflows.
// Copyable; reads the caller's segments, which must outlive it. Any number of threads may share
// one.
class ClockConverter {
 public:
  static constexpr int64_t kMaxNs = (INT64_C(1) << 62) - 1;

  // Identity: ticks are nanoseconds.
  ClockConverter();

  // From `count` pairs in any order, into `segments`, which has room for count + 1 (at least 2).
  // Pairs that repeat a tick, run backwards or lie outside of +-kMaxNs are left out. One pair: the
  // slope is tick_hz (0: a tick is a nanosecond). No pair: as if (0, 0) were one. kMonotonic: the
  // identity, whatever the pairs say. Sorts `pairs` in place.
  ClockConverter(ClockKind kind, uint64_t tick_hz, ClockPair* pairs, size_t count,
                 ClockSegment* segments);

  int64_t ToNs(uint64_t ticks) const;

  // ticks[i] -> ns[i] for ticks in ascending order; the two arrays may be the same memory.
  // About 1 ns each. Unsorted ticks give the same numbers, only slower.
  void ToNs(const uint64_t* ticks, size_t count, int64_t* ns) const;

  // Pairs in use (after leaving out the bad ones).
  size_t pairs() const { return pairs_; }

 private:
  size_t Find(uint64_t ticks) const;

  const ClockSegment* segments_;  // null: identity
  size_t count_ = 0;              // segments; ascending
  size_t pairs_ = 0;
  uint64_t most_before_ = 0;  // ticks before the first pair and after the last at which the
  uint64_t most_after_ = 0;   // line leaves +-kMaxNs
};

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_CLOCK_H_
