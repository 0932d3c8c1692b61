#include "base/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace rlscope::base {
namespace {

// A converter with the memory it needs.
struct Converter {
  Converter(ClockKind kind, uint64_t tick_hz, std::vector<ClockPair> given)
      : pairs(std::move(given)),
        segments(pairs.size() + 2),
        clock(kind, tick_hz, pairs.data(), pairs.size(), segments.data()) {}
  int64_t operator()(uint64_t ticks) const { return clock.ToNs(ticks); }

  std::vector<ClockPair> pairs;
  std::vector<ClockSegment> segments;
  ClockConverter clock;
};

// Pairs of a 2.45 GHz clock that drifts and whose readings jitter.
std::vector<ClockPair> DriftingPairs(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ClockPair> pairs;
  ClockPair pair = {123456789012345, 987654321};
  for (size_t i = 0; i < count; ++i) {
    pairs.push_back(pair);
    const uint64_t ticks = 1000000 + random() % 500000000;
    pair.ticks += ticks;
    pair.ns += static_cast<int64_t>(static_cast<double>(ticks) / 2.45) +
               static_cast<int64_t>(random() % 100);
  }
  return pairs;
}

TEST(ClockConverter, MeetsEveryPairExactlyAndIsLinearBetween) {
  const Converter clock(ClockKind::kTsc, 0, {{1000, 500}, {3000, 1500}, {4000, 4500}});
  EXPECT_EQ(clock(1000), 500);
  EXPECT_EQ(clock(2000), 1000);
  EXPECT_EQ(clock(3000), 1500);
  EXPECT_EQ(clock(3500), 3000);
  EXPECT_EQ(clock(4000), 4500);
  EXPECT_EQ(clock(5000), 7500) << "nearest slope behind the last pair";
  EXPECT_EQ(clock(800), 400) << "and before the first";
  EXPECT_EQ(clock.clock.pairs(), 3u);
}

TEST(ClockConverter, OnePairTakesTheGivenFrequency) {
  const Converter clock(ClockKind::kTsc, 2000000000, {{1000, 500}});
  EXPECT_EQ(clock(1000), 500);
  EXPECT_EQ(clock(3000), 1500);
  EXPECT_EQ(clock(0), 0);
  const Converter unknown(ClockKind::kTsc, 0, {{1000, 500}});
  EXPECT_EQ(unknown(1010), 510);
  const Converter nothing(ClockKind::kTsc, 1000000000, {});
  EXPECT_EQ(nothing(42), 42);
}

TEST(ClockConverter, MonotonicTicksAreNanosecondsWhateverThePairsSay) {
  const Converter clock(ClockKind::kMonotonic, 5, {{10, 1000}, {20, 9000}});
  EXPECT_EQ(clock(15), 15);
  EXPECT_EQ(ClockConverter().ToNs(123456789123456789), 123456789123456789);
}

TEST(ClockConverter, LeavesOutPairsThatRepeatOrRunBackwards) {
  const Converter clock(ClockKind::kTsc, 0,
                        {{3000, 3000}, {1000, 1000}, {2000, 500}, {1000, 7}, {4000, INT64_MAX}});
  EXPECT_EQ(clock.clock.pairs(), 2u);
  EXPECT_EQ(clock(2000), 2000);
}

TEST(ClockConverter, SaturatesInsteadOfOverflowing) {
  const Converter clock(ClockKind::kTsc, 1, {{1u << 30, 0}});
  EXPECT_EQ(clock(UINT64_MAX), ClockConverter::kMaxNs);
  EXPECT_LT(clock(0), -1000000000);
  const Converter steep(ClockKind::kTsc, 0, {{5, 0}, {6, ClockConverter::kMaxNs}});
  EXPECT_EQ(steep(7), ClockConverter::kMaxNs);
  EXPECT_EQ(steep(0), -ClockConverter::kMaxNs);
  EXPECT_EQ(ClockConverter().ToNs(UINT64_MAX), ClockConverter::kMaxNs);
}

// 1,000,000 random records across 50 clock pairs: converted boundaries never run backwards, and
// the durations of a chain of intervals sum up to the converted whole, to the nanosecond.
TEST(ClockConverter, SumsOfAMillionRecordsStayExact) {
  const Converter clock(ClockKind::kTsc, 0, DriftingPairs(50, 1));
  const uint64_t first = clock.pairs.front().ticks, last = clock.pairs.back().ticks;
  std::mt19937_64 random(2);
  std::vector<uint64_t> ticks;
  for (int i = 0; i < 1000000; ++i) {
    ticks.push_back(first - 1000000 + random() % (last - first + 2000000));
  }
  std::sort(ticks.begin(), ticks.end());
  std::vector<int64_t> ns(ticks.size());
  clock.clock.ToNs(ticks.data(), ticks.size(), ns.data());
  int64_t sum = 0;
  for (size_t i = 0; i < ticks.size(); ++i) {
    ASSERT_EQ(ns[i], clock(ticks[i])) << "batch and single conversion differ at " << i;
    if (i == 0) continue;
    ASSERT_GE(ns[i], ns[i - 1]);
    sum += ns[i] - ns[i - 1];
  }
  EXPECT_EQ(sum, clock(ticks.back()) - clock(ticks.front()));
}

TEST(ClockConverter, IsContinuousAndMonotoneAtEveryPair) {
  const Converter clock(ClockKind::kTsc, 0, DriftingPairs(50, 3));
  for (const ClockPair& pair : clock.pairs) {
    EXPECT_EQ(clock(pair.ticks), pair.ns);
    for (int64_t step = -3; step < 3; ++step) {
      const int64_t before = clock(pair.ticks + static_cast<uint64_t>(step));
      const int64_t after = clock(pair.ticks + static_cast<uint64_t>(step + 1));
      EXPECT_GE(after, before);
      EXPECT_LE(after - before, 2) << "a jump at a pair";
    }
  }
}

TEST(ClockConverter, ConvertsInPlaceAndUnsorted) {
  const Converter clock(ClockKind::kTsc, 0, {{0, 0}, {100, 200}, {200, 250}});
  std::vector<uint64_t> ticks = {150, 10, 199, 300, 50};
  int64_t* const ns = reinterpret_cast<int64_t*>(ticks.data());
  clock.clock.ToNs(ticks.data(), ticks.size(), ns);
  EXPECT_EQ(std::vector<int64_t>(ns, ns + 5), (std::vector<int64_t>{225, 20, 249, 300, 100}));
}

TEST(ClockConverter, ConvertsWhatLiesBeforeASlightSlopeInBulkAsOneByOne) {
  const Converter clock(ClockKind::kTsc, UINT64_MAX, {{uint64_t{1} << 60, 500}});
  const std::vector<uint64_t> ticks = {7, 8, 9, uint64_t{1} << 60, uint64_t{1} << 61, 9};
  std::vector<int64_t> ns(ticks.size());
  clock.clock.ToNs(ticks.data(), ticks.size(), ns.data());
  for (size_t i = 0; i < ticks.size(); ++i) EXPECT_EQ(ns[i], clock(ticks[i])) << ticks[i];
}

TEST(Clock, PairsAgreeWithTheClockThatTheyName) {
  for (const ClockKind kind : {DetectClock(), ClockKind::kMonotonic}) {
    const int64_t before = ReadMonotonicNs();
    const ClockPair pair = ReadClockPair(kind);
    const int64_t after = ReadMonotonicNs();
    EXPECT_GE(pair.ns, before);
    EXPECT_LE(pair.ns, after);
    EXPECT_LE(pair.ticks, ReadTicks(kind));
    const uint64_t hz = EstimateTickHz(kind);
    EXPECT_GT(hz, 1000000u);
    EXPECT_LT(hz, 20000000000u);
  }
}

TEST(Clock, ChoosesTheTscOnlyWhereTheKernelUsesIt) {
  EXPECT_EQ(ChooseClock("hpet\n"), ClockKind::kMonotonic);
  EXPECT_EQ(ChooseClock("kvm-clock"), ClockKind::kMonotonic);
  EXPECT_EQ(ChooseClock(""), ClockKind::kMonotonic);
  EXPECT_EQ(ChooseClock("tsc\n"), ChooseClock("tsc"));
  EXPECT_EQ(ChooseClock("tscx"), ClockKind::kMonotonic);
}

TEST(Clock, TickHzOfTwoPairs) {
  EXPECT_EQ(TickHz({1000, 0}, {2451000, 1000000}), 2450000000u);
  EXPECT_EQ(TickHz({1000, 0}, {2000, 10}), 0u) << "too near";
  EXPECT_EQ(TickHz({2000, 0}, {1000, 1000000}), 0u) << "backwards";
}

}  // namespace
}  // namespace rlscope::base
