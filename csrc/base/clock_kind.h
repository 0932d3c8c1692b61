// Where the ticks of records come from: numbered as in control pages, process pages and files.
#ifndef RLSCOPE_BASE_CLOCK_KIND_H_
#define RLSCOPE_BASE_CLOCK_KIND_H_

#include <stdint.h>

namespace rlscope::base {

enum class ClockKind : uint32_t { kTsc = 1, kMonotonic = 2, kVirtualCounter = 3 };

// The kind of a number from a file or a page, which may hold any.
constexpr ClockKind ToClockKind(uint64_t number) {
  const auto kind = static_cast<ClockKind>(number);
  const bool counts =
      number <= UINT32_MAX && (kind == ClockKind::kTsc || kind == ClockKind::kVirtualCounter);
  return counts ? kind : ClockKind::kMonotonic;
}

// The CPU's own counter, which this machine's ticks come from where its kernel trusts it.
#if defined(__x86_64__)
constexpr ClockKind kCounterKind = ClockKind::kTsc;
#elif defined(__aarch64__)
constexpr ClockKind kCounterKind = ClockKind::kVirtualCounter;
#else
#error "no counter for this CPU"
#endif

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_CLOCK_KIND_H_
