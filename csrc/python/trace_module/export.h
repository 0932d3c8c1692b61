// _trace.Lanes and _trace.PerfettoEncoder: columns of intervals -> what viewers of traces read.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_EXPORT_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_EXPORT_H_

#include <nanobind/nanobind.h>

namespace rlscope::python {

void AddExporters(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_EXPORT_H_
