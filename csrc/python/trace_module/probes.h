// Probes as columns for Python (docs/reference/semantics.md#probes).
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_PROBES_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_PROBES_H_

#include "analysis/threads/probes.h"
#include "python/trace_module/columns.h"
#include "trace/read/process_trace.h"

namespace rlscope::python {

// Picoseconds of a tick of the clock itself.
double TickPs(const trace::ProcessTrace& process);

Columns MakeProbes(const analysis::FoundProbes& probes, double tick_ps);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_PROBES_H_
