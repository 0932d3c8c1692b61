// The threads of a process as columns.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_THREADS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_THREADS_H_

#include "python/trace_module/columns.h"
#include "trace/directory/process_images.h"

namespace rlscope::python {

// thread, os_tid, name, is_python, start_ns, end_ns, running_ns, runnable_ns, measured_ns (-1: not
// known). Needs no GIL.
Columns MakeThreads(const trace::ProcessImage& image);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_THREADS_H_
