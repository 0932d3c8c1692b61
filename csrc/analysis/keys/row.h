// A row of the process view: path, layer, gpu_busy. The path has the same bits as in a state.
#ifndef RLSCOPE_ANALYSIS_KEYS_ROW_H_
#define RLSCOPE_ANALYSIS_KEYS_ROW_H_

#include <stdint.h>

#include "analysis/keys/key.h"

namespace rlscope::analysis {

constexpr uint32_t kRowsOfPath = 1 << kPathShift;
constexpr uint32_t MakeRow(uint32_t path, uint32_t layer, bool gpu_busy) {
  return path * kRowsOfPath + layer * 2 + gpu_busy;
}
constexpr uint32_t FirstRowOf(uint32_t state) { return state & kPathMask << kPathShift; }
constexpr uint32_t PathOfRow(uint32_t row) { return row / kRowsOfPath; }
constexpr uint32_t LayerOfRow(uint32_t row) { return row % kRowsOfPath / 2; }
constexpr bool IsBusyRow(uint32_t row) { return row & 1; }

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_ROW_H_
