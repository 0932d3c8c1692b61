// Raw streams of a process as columns.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ITEMS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ITEMS_H_

#include <stdint.h>

#include "python/trace_module/columns.h"
#include "trace/read/process_trace.h"

namespace rlscope::python {

// `thread` is a thread's number; without records of it the columns are empty. `process` may be
// null: a process that recorded nothing.
Columns MakeItems(const trace::ProcessTrace* process, uint32_t thread);
Columns MakeCudaCalls(const trace::ProcessTrace* process, uint32_t thread);
Columns MakeGpuIntervals(const trace::ProcessTrace* process);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ITEMS_H_
