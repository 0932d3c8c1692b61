// Class statements: whoever waits for classes, by their names or methods, gets each one as soon as
// it exists.
//
// The pointer of builtins.__build_class__, which every class statement calls, is replaced in place:
// nothing that a program can look at changes.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_CLASS_STATEMENTS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_CLASS_STATEMENTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// watch_classes(words, methods, handler); contract: rlscope/_runtime.pyi.
PyObject* WatchClasses(PyObject* module, PyObject* const* arguments, Py_ssize_t count);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_CLASS_STATEMENTS_H_
