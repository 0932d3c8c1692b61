// Results of the sweep as relations with the columns of rlscope/_trace.pyi.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_RELATIONS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_RELATIONS_H_

#include "analysis/process/source.h"
#include "analysis/sweep/sweep.h"
#include "analysis/views/path_rows.h"
#include "python/trace_module/columns.h"

namespace rlscope::python {

Relations MakeRelations(const analysis::ProcessInput& input, const analysis::SweepResult& result,
                        const analysis::SweepOptions& options);

// Paths in the order of their rows.
Columns MakeOperations(const analysis::OperationPaths& paths, const analysis::PathRows& rows);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_RELATIONS_H_
