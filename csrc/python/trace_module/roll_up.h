// Adds the function roll_up to _trace.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ROLL_UP_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ROLL_UP_H_

#include <nanobind/nanobind.h>

namespace rlscope::python {

void AddRollUp(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ROLL_UP_H_
