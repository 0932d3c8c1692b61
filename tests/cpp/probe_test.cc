// When probes are due: runtime/probe.h.
#include "runtime/probe.h"

#include <gtest/gtest.h>

namespace rlscope::runtime {
namespace {

TEST(Probe, PauseIsInProportionToWhatTheProbeTook) {
  constexpr uint64_t kSpent = 5000, kShortest = 1000;
  uint64_t random = 42, sum = 0;
  constexpr int kDraws = 10000;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t pause = ProbePause(kSpent, kShortest, NextRandom(&random));
    EXPECT_GE(pause, kSpent * 1024) << "0.1 %";
    EXPECT_LT(pause, kSpent * 3072);
    sum += pause;
  }
  EXPECT_NEAR(static_cast<double>(sum) / kDraws / kSpent, 2048, 50) << "0.05 %";
}

TEST(Probe, PauseIsNotShorterThanHalfOfTheShortest) {
  uint64_t random = 42;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t pause = ProbePause(1, 1000000, NextRandom(&random));
    EXPECT_GE(pause, 500000u);
    EXPECT_LT(pause, 1500000u);
  }
}

TEST(Probe, PauseDoesNotOverflow) {
  EXPECT_GE(ProbePause(UINT64_MAX, 1000, 0), UINT64_MAX / 16);
  EXPECT_GE(ProbePause(UINT64_MAX, 1000, UINT64_MAX), UINT64_MAX / 16);
}

TEST(Probe, RandomPartsCoverTheWhole) {
  uint64_t random = 1;
  int lower = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t part = RandomPart(100, NextRandom(&random));
    EXPECT_LT(part, 100u);
    lower += part < 50;
  }
  EXPECT_NEAR(lower, 500, 60);
}

}  // namespace
}  // namespace rlscope::runtime
