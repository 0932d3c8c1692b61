// Compiled functions: what TensorFlow and JAX make of a Python function. A call of one is an event
// of the automatic track, named after the function (C in runtime_automatic_track.h).
//
// TensorFlow's are objects of a Python class, whose __call__ is watched like any function. JAX's
// are objects of a C type that carry a vectorcall pointer of their own, which is replaced.
#ifndef RLSCOPE_PYTHON_RUNTIME_COMPILED_H_
#define RLSCOPE_PYTHON_RUNTIME_COMPILED_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

// Id of the operation name "compiled:<__name__>"; 0 if the object is null or has no name. Sets no
// Python error.
uint32_t NameOfCompiled(PyObject* function);

// Makes calls of this object events, for as long as it lives. False: its type has no such pointer,
// or there are too many. Sets no Python error.
bool WatchCompiled(PyObject* function);

// watch_compiled(function): WatchCompiled() as Python sees it.
PyObject* WatchCompiledFunction(PyObject* module, PyObject* function);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_COMPILED_H_
