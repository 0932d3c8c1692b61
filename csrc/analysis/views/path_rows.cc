#include "analysis/views/path_rows.h"

#include <algorithm>
#include <tuple>

namespace rlscope::analysis {

PathRows::PathRows(const OperationPaths& paths, bool has_gaps) : row_of_path_(paths.size(), 0) {
  std::vector<std::vector<uint32_t>> children(paths.size());
  for (uint32_t path = 1; path < paths.size(); ++path) {
    if (path == kNotRecordedPath && !has_gaps) continue;
    if (path == kOtherPath && paths.node(path).instances == 0) continue;
    children[paths.node(path).parent].push_back(path);
  }
  // Last child first on the stack: it is left as the last.
  const auto later = [&](uint32_t a, uint32_t b) {
    return std::forward_as_tuple(paths.name(a), paths.node(a).automatic, a) >
           std::forward_as_tuple(paths.name(b), paths.node(b).automatic, b);
  };
  std::vector<uint32_t> stack = {kNoPath};
  while (!stack.empty()) {
    const uint32_t path = stack.back();
    stack.pop_back();
    row_of_path_[path] = static_cast<uint32_t>(order_.size());
    order_.push_back(path);
    std::sort(children[path].begin(), children[path].end(), later);
    stack.insert(stack.end(), children[path].begin(), children[path].end());
  }
}

}  // namespace rlscope::analysis
