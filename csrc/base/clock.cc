#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rlscope::base {
namespace {

constexpr int kBracketedReadings = 8;
constexpr uint64_t kNsPerSecond = 1000000000;
constexpr int64_t kMeasureNs = 2000000;  // 2 ms: a bracket of 50 ns is then 25 ppm of the rate
constexpr char kClockSourceFile[] =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

__extension__ typedef unsigned __int128 uint128_t;

#if defined(__x86_64__)
// CPUID 0x80000007 EDX bit 8: the kernel's constant_tsc and nonstop_tsc on every x86-64 CPU.
bool HasInvariantTsc() {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 8 & 1) != 0;
}

bool MayReadTsc() {
  int mode = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

// Leaf 0x15: TSC = crystal Hz (ecx) x ebx / eax; ecx is 0 on CPUs that do not tell.
uint64_t CpuidTickHz() {
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(0x15, &eax, &ebx, &ecx, &edx) != 0 && eax != 0 && ebx != 0 && ecx != 0) {
    return static_cast<uint64_t>(ecx) * ebx / eax;
  }
  // Hypervisor leaf 0x40000010 (KVM, VMware): TSC kHz in eax.
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx >> 31 & 1) == 0) return 0;
  __cpuid(0x40000000, eax, ebx, ecx, edx);
  if (eax < 0x40000010) return 0;
  __cpuid(0x40000010, eax, ebx, ecx, edx);
  return static_cast<uint64_t>(eax) * 1000;
}
#endif

uint64_t MeasureTickHz(ClockKind kind) {
  const ClockPair begin = ReadClockPair(kind);
  ClockPair end;
  do {
    end = ReadClockPair(kind);
  } while (end.ns - begin.ns < kMeasureNs);
  return TickHz(begin, end);
}

void SetSlope(ClockSegment* segment, uint64_t ns, uint64_t ticks) {
  segment->whole = ns / ticks;
  segment->fraction = static_cast<uint64_t>((static_cast<uint128_t>(ns % ticks) << 64) / ticks);
}

// Nanoseconds of `ticks` on the segment's slope, rounded down.
inline uint64_t Scale(const ClockSegment& segment, uint64_t ticks) {
  return segment.whole * ticks +
         static_cast<uint64_t>((static_cast<uint128_t>(segment.fraction) * ticks) >> 64);
}

// The most ticks whose Scale() is at most `ns`: where an extrapolation saturates.
uint64_t MostTicks(const ClockSegment& segment, uint64_t ns) {
  const uint128_t slope = static_cast<uint128_t>(segment.whole) << 64 | segment.fraction;
  if (slope == 0) return UINT64_MAX;
  const uint128_t ticks = (static_cast<uint128_t>(ns) << 64) / slope;
  return ticks > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(ticks);
}

// Insertion sort: pairs come almost in order, and libc's qsort may call malloc.
void SortByTicks(ClockPair* pairs, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    const ClockPair pair = pairs[i];
    size_t at = i;
    for (; at > 0 && pairs[at - 1].ticks > pair.ticks; --at) pairs[at] = pairs[at - 1];
    pairs[at] = pair;
  }
}

// Ticks that are nanoseconds already. Where they stand there is nothing to do but to look at them.
void Limit(const uint64_t* ticks, size_t count, int64_t* ns) {
  constexpr uint64_t kMost = static_cast<uint64_t>(ClockConverter::kMaxNs);
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i) bits |= ticks[i];
  if (bits < kMost && static_cast<const void*>(ticks) == ns) return;
  for (size_t i = 0; i < count; ++i)
    ns[i] = static_cast<int64_t>(ticks[i] < kMost ? ticks[i] : kMost);
}

bool InRange(int64_t ns) { return ns <= ClockConverter::kMaxNs && ns >= -ClockConverter::kMaxNs; }

// Removes pairs that cannot be on a rising line through the ones before them.
size_t KeepRising(ClockPair* pairs, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!InRange(pairs[i].ns)) continue;
    if (kept > 0 && (pairs[i].ticks == pairs[kept - 1].ticks || pairs[i].ns < pairs[kept - 1].ns)) {
      continue;
    }
    pairs[kept++] = pairs[i];
  }
  return kept;
}

}  // namespace

ClockKind ChooseClock(const char* clocksource) {
#if defined(__x86_64__)
  const bool is_tsc =
      strncmp(clocksource, "tsc", 3) == 0 && (clocksource[3] == '\0' || clocksource[3] == '\n');
  if (is_tsc && HasInvariantTsc() && MayReadTsc()) return ClockKind::kTsc;
#elif defined(__aarch64__)
  if (strncmp(clocksource, "arch_sys_counter", 16) == 0) return ClockKind::kVirtualCounter;
#endif
  (void)clocksource;
  return ClockKind::kMonotonic;
}

ClockKind DetectClock() {
  char clocksource[32] = "";
  const int descriptor = open(kClockSourceFile, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ClockKind::kMonotonic;
  const ssize_t length = read(descriptor, clocksource, sizeof clocksource - 1);
  close(descriptor);
  return length > 0 ? ChooseClock(clocksource) : ClockKind::kMonotonic;
}

ClockPair ReadClockPair(ClockKind kind) {
  if (kind == ClockKind::kMonotonic) {
    const int64_t now = ReadMonotonicNs();
    return {static_cast<uint64_t>(now), now};
  }
  ClockPair best = {0, 0};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < kBracketedReadings; ++i) {
    const uint64_t before = ReadTicks(kind);
    const int64_t ns = ReadMonotonicNs();
    const uint64_t width = ReadTicks(kind) - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {before + width / 2, ns};
  }
  return best;
}

uint64_t TickHz(const ClockPair& earlier, const ClockPair& later) {
  if (later.ns - earlier.ns < 1000 || later.ticks <= earlier.ticks) return 0;
  const uint128_t ticks = static_cast<uint128_t>(later.ticks - earlier.ticks) * kNsPerSecond;
  return static_cast<uint64_t>(ticks / static_cast<uint64_t>(later.ns - earlier.ns));
}

uint64_t EstimateTickHz(ClockKind kind) {
  if (kind == ClockKind::kMonotonic) return kNsPerSecond;
  uint64_t hz = 0;
#if defined(__x86_64__)
  hz = CpuidTickHz();
#elif defined(__aarch64__)
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hz));
#endif
  return hz != 0 ? hz : MeasureTickHz(kind);
}

ClockConverter::ClockConverter() : segments_(nullptr) {}

ClockConverter::ClockConverter(ClockKind kind, uint64_t tick_hz, ClockPair* pairs, size_t count,
                               ClockSegment* segments)
    : segments_(nullptr) {
  if (kind == ClockKind::kMonotonic) return;
  SortByTicks(pairs, count);
  pairs_ = count = KeepRising(pairs, count);
  segments_ = segments;
  count_ = count == 0 ? 1 : count;
  segments[0] = {0, 0, 1, 0};
  for (size_t i = 0; i < count; ++i) segments[i] = {pairs[i].ticks, pairs[i].ns, 1, 0};
  for (size_t i = 0; i + 1 < count; ++i) {
    SetSlope(&segments[i], static_cast<uint64_t>(pairs[i + 1].ns - pairs[i].ns),
             pairs[i + 1].ticks - pairs[i].ticks);
  }
  ClockSegment* last = &segments[count_ - 1];
  if (count_ > 1) {
    last->whole = last[-1].whole;
    last->fraction = last[-1].fraction;
  } else if (tick_hz != 0) {
    SetSlope(last, kNsPerSecond, tick_hz);
  }
  most_before_ = MostTicks(segments[0], static_cast<uint64_t>(segments[0].ns + kMaxNs));
  most_after_ = MostTicks(*last, static_cast<uint64_t>(kMaxNs - last->ns));
}

size_t ClockConverter::Find(uint64_t ticks) const {
  size_t low = 0, high = count_;  // the last segment that begins at or before ticks, else 0
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (segments_[middle].ticks <= ticks ? low : high) = middle;
  }
  return low;
}

int64_t ClockConverter::ToNs(uint64_t ticks) const {
  if (segments_ == nullptr) {
    return ticks < static_cast<uint64_t>(kMaxNs) ? static_cast<int64_t>(ticks) : kMaxNs;
  }
  const size_t at = Find(ticks);
  const ClockSegment& segment = segments_[at];
  if (ticks < segment.ticks) {
    const uint64_t back = segment.ticks - ticks;
    if (back > most_before_) return -kMaxNs;
    return segment.ns - static_cast<int64_t>(Scale(segment, back));
  }
  const uint64_t forth = ticks - segment.ticks;
  if (at + 1 == count_ && forth > most_after_) return kMaxNs;
  return segment.ns + static_cast<int64_t>(Scale(segment, forth));
}

void ClockConverter::ToNs(const uint64_t* ticks, size_t count, int64_t* ns) const {
  if (segments_ == nullptr) return Limit(ticks, count, ns);
  size_t i = 0;
  while (i < count) {
    ns[i] = ToNs(ticks[i]);
    if (++i == count) break;
    // The stretch that lies on one segment, without a search per tick.
    const size_t at = Find(ticks[i]);
    const ClockSegment segment = segments_[at];
    uint64_t span = at + 1 < count_ ? segments_[at + 1].ticks - segment.ticks : most_after_;
    // On a slope so slight that nothing saturates, ticks before the segment must not wrap into it.
    if (span > UINT64_MAX - segment.ticks) span = UINT64_MAX - segment.ticks;
    for (; i < count && ticks[i] - segment.ticks < span; ++i) {
      ns[i] = segment.ns + static_cast<int64_t>(Scale(segment, ticks[i] - segment.ticks));
    }
  }
}

}  // namespace rlscope::base
