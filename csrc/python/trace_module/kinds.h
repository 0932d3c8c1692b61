// LAYERS, GPU_KINDS, EVENT_KINDS, RECORD_KINDS and LEARNING_NAMES of _trace.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_KINDS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_KINDS_H_

#include <nanobind/nanobind.h>

namespace rlscope::python {

void AddKinds(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_KINDS_H_
