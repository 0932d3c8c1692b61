// Operations by name, and the functions that look there. They are bound to the table instead of
// the module: asking the module for its state is a call, in a function that needs no other.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATION_TABLE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATION_TABLE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds the functions to the module: 0, or -1 with a Python error set.
int AddOperationTable(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATION_TABLE_H_
