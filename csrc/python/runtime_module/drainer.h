// _runtime.Drainer: the drainer of a whole run (csrc/trace/drain/drain_directory.h) for rls-prof.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_DRAINER_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_DRAINER_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds it to the module: 0, or -1 with a Python error set.
int AddDrainer(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_DRAINER_H_
