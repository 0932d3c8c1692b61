// Work of the GPU as relations, with the columns that analysis/gpu/gpu_kinds.h lists.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_GPU_WORK_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_GPU_WORK_H_

#include <stdint.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/cuda/cuda_relations.h"
#include "analysis/process/source.h"
#include "analysis/views/path_rows.h"
#include "python/trace_module/columns.h"

namespace rlscope::python {

// The entry in a column `operation` for work with no launch in the trace.
constexpr int32_t kUnlinked = -1;

inline int32_t OperationOf(const analysis::PathRows& paths, uint32_t path) {
  return path == analysis::kUnlinkedPath ? kUnlinked : static_cast<int32_t>(paths.RowOf(path));
}

class NameTexts {
 public:
  explicit NameTexts(const std::vector<trace::Name>& names) {
    for (const trace::Name& name : names) texts_[name.id] = &name.text;
  }
  std::string Of(uint32_t id) const {
    const auto text = texts_.find(id);
    return text == texts_.end() ? "(unknown)" : *text->second;
  }

 private:
  std::unordered_map<uint32_t, const std::string*> texts_;
};

// One relation for each kind of work.
void AddGpuWork(const analysis::ProcessInput& input, const analysis::CudaResult& result,
                const analysis::PathRows& paths, const NameTexts& names, Relations* relations);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_GPU_WORK_H_
