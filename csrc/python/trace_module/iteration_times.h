// The relation `iteration_breakdown` as a stream of rows (rlscope/_trace.pyi): an iteration has a
// row for each state that the process was in.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ITERATION_TIMES_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ITERATION_TIMES_H_

#include "analysis/sweep/sweep.h"
#include "python/trace_module/row_stream.h"

namespace rlscope::python {

// Takes the times and the iterations out of the result; they stay where the sweep put them, on disk
// where they are many.
RowStream StreamIterationTimes(analysis::SweepResult* result);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ITERATION_TIMES_H_
