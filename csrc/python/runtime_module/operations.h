// _runtime.Operation: its face to `with` and the decorator.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds it to the module: 0, or -1 with a Python error set.
int AddOperations(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATIONS_H_
