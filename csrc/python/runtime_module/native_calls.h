// The engine that patches native calls, as Python sees it.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_NATIVE_CALLS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_NATIVE_CALLS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds the intercept_ functions to the module: 0, or -1 with a Python error set.
int AddNativeCalls(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_NATIVE_CALLS_H_
