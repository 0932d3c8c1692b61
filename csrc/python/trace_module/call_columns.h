// Native calls and waits of a process as columns.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_CALL_COLUMNS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_CALL_COLUMNS_H_

#include "analysis/process/source.h"
#include "analysis/sweep/sweep_result.h"
#include "analysis/views/path_rows.h"
#include "python/trace_module/columns.h"

namespace rlscope::python {

// Functions by text: a process may hold one name under two ids.
Columns MakeNativeCalls(const analysis::ProcessInput& input, const analysis::CallCounts& counts,
                        const analysis::PathRows& paths);

// By stage, thread and text of the wait.
Columns MakeWaits(const analysis::ProcessInput& input, const analysis::SweepResult& result,
                  const analysis::PathRows& paths);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_CALL_COLUMNS_H_
