// Rows of the table `operation` for the paths of one process: "(none)" first, then a depth-first
// walk with the names of one parent in alphabetical order, annotated before automatic, so that
// parents come before children and the rows do not depend on the order in which threads were read.
#ifndef RLSCOPE_ANALYSIS_VIEWS_PATH_ROWS_H_
#define RLSCOPE_ANALYSIS_VIEWS_PATH_ROWS_H_

#include <stdint.h>

#include <vector>

#include "analysis/keys/operation_paths.h"

namespace rlscope::analysis {

class PathRows {
 public:
  // `has_gaps`: the process has time that was not recorded. "(other)" has a row if it was needed.
  PathRows(const OperationPaths& paths, bool has_gaps);

  const std::vector<uint32_t>& order() const { return order_; }  // paths by row
  uint32_t RowOf(uint32_t path) const { return row_of_path_[path]; }

 private:
  std::vector<uint32_t> order_;
  std::vector<uint32_t> row_of_path_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_PATH_ROWS_H_
