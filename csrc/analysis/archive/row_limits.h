// How many there are of what the rows of an archive name.
#ifndef RLSCOPE_ANALYSIS_ARCHIVE_ROW_LIMITS_H_
#define RLSCOPE_ANALYSIS_ARCHIVE_ROW_LIMITS_H_

#include <stddef.h>
#include <stdint.h>

#include "analysis/keys/row.h"

namespace rlscope::analysis {

struct RowLimits {
  uint32_t paths;
  size_t phases;
  size_t iterations;

  size_t rows() const { return size_t{paths} * kRowsOfPath; }
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_ARCHIVE_ROW_LIMITS_H_
