// The vectorcall pointers of Python functions.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_VECTORCALL_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_VECTORCALL_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// That of a plain function; set once, before the first function is changed.
inline vectorcallfunc plain_vectorcall = nullptr;

// Gives a Python function another one.
inline void SetVectorcall(PyObject* function, vectorcallfunc vectorcall) {
#if PY_VERSION_HEX >= 0x030C0000
  PyFunction_SetVectorcall(reinterpret_cast<PyFunctionObject*>(function), vectorcall);
#else
  reinterpret_cast<PyFunctionObject*>(function)->vectorcall = vectorcall;
#endif
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_VECTORCALL_H_
