// The function _trace.overlap.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_OVERLAP_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_OVERLAP_H_

#include <nanobind/nanobind.h>

namespace rlscope::python {

void AddOverlap(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_OVERLAP_H_
