// The face of the engine that records native calls by sys.monitoring: rlscope/_runtime.pyi.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORING_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORING_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds monitoring_begin, monitoring_refresh, monitoring_end and monitoring_counts to the module: 0,
// or -1 with a Python error set.
int AddMonitoring(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORING_H_
