// The tick of a trace file: 2^tick_shift ticks of the clock, the longest such unit that is still
// shorter than a nanosecond. Every tick in the file counts it, clock pairs and durations included,
// so that the bits that no nanosecond shows are not written: 0.4 bytes of an event with a TSC of
// 2 to 4 GHz. Records in rings and pages count the clock's own ticks.
#ifndef RLSCOPE_TRACE_FORMAT_TICK_UNIT_H_
#define RLSCOPE_TRACE_FORMAT_TICK_UNIT_H_

#include <stdint.h>

namespace rlscope::trace {

// Rates that no clock has are not believed.
constexpr uint32_t kMaxTickShift = 4;                // 16 GHz
constexpr uint64_t kMostTickHz = uint64_t{1} << 40;  // 1 THz; beyond, the rate is not known

// `tick_hz`: ticks of the clock per second, 0 if not known.
constexpr uint32_t TickShift(uint64_t tick_hz) {
  uint32_t shift = 0;
  while (shift < kMaxTickShift && tick_hz >> (shift + 1) >= 1000000000) ++shift;
  return shift;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_FORMAT_TICK_UNIT_H_
