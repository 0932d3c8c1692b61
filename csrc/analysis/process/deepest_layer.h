// LayerCounts::RowOf with one instruction that counts leading zeros.
#ifndef RLSCOPE_ANALYSIS_PROCESS_DEEPEST_LAYER_H_
#define RLSCOPE_ANALYSIS_PROCESS_DEEPEST_LAYER_H_

#include <stdint.h>

#include <array>

#include "analysis/process/process_state.h"

namespace rlscope::analysis {

// Compares, and so works on every CPU.
struct DeepestByComparing {
  static uint32_t RowOf(uint64_t counts) { return LayerCounts::RowOf(counts); }
};

#if defined(__x86_64__) || defined(__aarch64__)
constexpr std::array<uint8_t, 65> MakeRowsByZeros() {
  std::array<uint8_t, 65> rows{};
  for (uint32_t layer = 1; layer < kLayers; ++layer) {
    const uint32_t next = LayerCounts::LowestBit(layer + 1);
    for (uint32_t bit = LayerCounts::LowestBit(layer); bit < next; ++bit) {
      rows[63 - bit] = static_cast<uint8_t>(2 * layer);
    }
  }
  return rows;
}
constexpr std::array<uint8_t, 65> kRowsByZeros = MakeRowsByZeros();

struct DeepestByZeros {
  static uint32_t RowOf(uint64_t counts) {
    return kRowsByZeros[CountZeros(counts)] + static_cast<uint32_t>(counts & 1);
  }

 private:
#if defined(__x86_64__)
  // As assembly, because a function compiled for LZCNT cannot be inlined into one that is not, and
  // this choice is made at run time.
  static uint64_t CountZeros(uint64_t counts) {
    uint64_t zeros;
    asm("lzcnt %1, %0" : "=r"(zeros) : "r"(counts) : "cc");
    return zeros;
  }
#else
  static uint64_t CountZeros(uint64_t counts) {
    return static_cast<uint64_t>(__builtin_clzll(counts | 1));
  }
#endif
};
#endif

// Whether DeepestByZeros can be used. LZCNT came with BMI2 or before it.
inline bool CountsZeros() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_DEEPEST_LAYER_H_
