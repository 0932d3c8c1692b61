// When a thread runs a probe: a measurement of what recording costs right here, with the caches as
// the program left them. What is measured is the caller's (python/runtime_module/probe.h).
//
//   exits    |   |  |     |   |  |   |   |          |
//            ^ due        ^ probe     ^ due again at a random time, in proportion to what it took
//
// Time alone would choose the first record after a long stretch without one, for most of the time
// lies in such stretches. So a probe that is due lets a random number of records pass, unless they
// are rare.
#ifndef RLSCOPE_RUNTIME_PROBE_H_
#define RLSCOPE_RUNTIME_PROBE_H_

#include <stdint.h>

#include "runtime/hot.h"

namespace rlscope::runtime {

// A record that was written at `ticks` makes a probe due; 0: none was written.
inline __attribute__((always_inline)) bool IsProbeDue(uint64_t ticks) {
  const auto time = static_cast<uint32_t>(ticks >> RLSCOPE_PROBE_SHIFT);
  return IsRare(time > rlscope_self.next_probe);
}

// A probe that took `spent` ticks, with all around it, is followed by a pause of 1,024 to 3,072
// times as many, 2,048 on the average: 0.05 % of the thread's time, never more than 0.1 %.
constexpr uint64_t kProbePause = 2048;
// But by 0.5 to 1.5 ms at least: 1,000 samples a second are enough, and each takes some ten bytes.
constexpr uint64_t kShortestProbePauseNs = 1000000;
// Records that a due probe lets pass: fewer than this, a training step's worth of operations.
constexpr uint32_t kMostPassedBy = 16;

// xorshift64*: period 2^64 - 1; `state` must not be 0.
inline uint64_t NextRandom(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545F4914F6CDD1D);
}

// A part of `whole` that is uniform in [0, whole).
inline uint64_t RandomPart(uint64_t whole, uint64_t random) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(whole) * random >> 64);
}

// How long after a probe no other one is due. `shortest`: kShortestProbePauseNs in ticks.
inline uint64_t ProbePause(uint64_t spent, uint64_t shortest, uint64_t random) {
  constexpr uint64_t kMost = UINT64_MAX / kProbePause / 4;  // 52 days at 3 GHz
  const uint64_t usual = (spent < kMost ? spent : kMost) * kProbePause;
  const uint64_t pause = usual > shortest ? usual : shortest;
  return pause / 2 + RandomPart(pause, random);
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_PROBE_H_
