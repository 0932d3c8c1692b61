// Rows of the breakdown of a process, as the sweep adds them up.
#ifndef RLSCOPE_ANALYSIS_VIEWS_BREAKDOWN_ROWS_H_
#define RLSCOPE_ANALYSIS_VIEWS_BREAKDOWN_ROWS_H_

#include <stdint.h>

#include "analysis/archive/row_limits.h"
#include "analysis/spill/spill_table.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

struct BreakdownRow {
  uint64_t key;  // (phase << 32 | row) + 1
  int64_t duration_ns;
  uint64_t count;

  static uint64_t KeyOf(uint32_t phase, uint32_t row) { return (uint64_t{phase} << 32 | row) + 1; }
  uint32_t phase() const { return static_cast<uint32_t>((key - 1) >> 32); }
  uint32_t row() const { return static_cast<uint32_t>(key - 1); }
};

using BreakdownRows = SpillTable<BreakdownRow>;

void CarryRows(trace::Archive* archive, const RowLimits& limits, BreakdownRows* rows);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_BREAKDOWN_ROWS_H_
