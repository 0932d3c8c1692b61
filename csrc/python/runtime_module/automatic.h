// The Python face of automatic operations: which functions are events, and what else their hooks
// need to know. Contract: rlscope/_runtime.pyi; used by rlscope/auto.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds the functions to the module: 0, or -1 with a Python error set.
int AddAutomatic(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_H_
