// _runtime.Annotated: a decorated function. A vectorcall between two records: 25 to 30 ns more
// than the function itself, where a Python wrapper with `with` costs 160 to 200.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_ANNOTATED_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_ANNOTATED_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Adds it to the module: 0, or -1 with a Python error set.
int AddAnnotated(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_ANNOTATED_H_
