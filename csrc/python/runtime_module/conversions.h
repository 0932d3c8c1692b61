// Functions, methods and types of C code that convert an observation for a forward: PyTorch's
// as_tensor, Tensor.to, Tensor. Their own vectorcall pointer is replaced; nothing that a program
// can look at changes, and the C function that recorders of native calls look for stays in place.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Makes calls of it with an observation as first argument events. False: it is none of the three,
// or its calls go another way. Sets no Python error.
bool WatchConversion(PyObject* callable);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_
