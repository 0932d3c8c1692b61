#include "analysis/views/breakdown_rows.h"

namespace rlscope::analysis {
namespace {

BreakdownRow CarryRow(trace::Archive* archive, const RowLimits& limits, BreakdownRow row) {
  uint32_t phase = row.key == 0 ? 0 : row.phase(), number = row.key == 0 ? 0 : row.row();
  archive->Below(&phase, limits.phases);
  archive->Below(&number, limits.rows());
  archive->Sum(&row.duration_ns);
  archive->Number(&row.count);
  row.key = BreakdownRow::KeyOf(phase, number);
  return row;
}

}  // namespace

void CarryRows(trace::Archive* archive, const RowLimits& limits, BreakdownRows* rows) {
  CarryTable(archive, rows,
             [&](const BreakdownRow& row) { return CarryRow(archive, limits, row); });
}

}  // namespace rlscope::analysis
