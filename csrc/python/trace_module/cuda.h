// CUDA calls and GPU work as relations with the columns of rlscope/_trace.pyi.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_CUDA_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_CUDA_H_

#include "analysis/cuda/cuda_relations.h"
#include "analysis/process/source.h"
#include "python/trace_module/columns.h"

namespace rlscope::python {

Relations MakeCudaRelations(const analysis::ProcessInput& input,
                            const analysis::CudaResult& result);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_CUDA_H_
