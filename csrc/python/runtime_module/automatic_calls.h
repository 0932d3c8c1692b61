// The code around a call that is an event of the automatic track.
//
// Two ways to see the calls of a Python function. In place: the function's own vectorcall pointer
// is replaced; nothing that a program can look at changes. CPython 3.11 calls functions from Python
// code without looking at that pointer, so there it serves for functions that C code calls, and
// others are replaced by an object that stands for them.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_CALLS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_CALLS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/runtime_module/automatic_events.h"

namespace rlscope::python {

// How calls reach a function: in place, or through an object that holds it. The first argument is
// the function or the object.
vectorcallfunc CallInPlace(Event event);
vectorcallfunc CallThroughObject(Event event);

// A class of environments: a "mixin" counts where it is called on an object of one. False: there
// are too many.
bool AddEnvironments(PyTypeObject* root);
bool IsEnvironment(PyObject* object);

// Module name -> callable(module), called when that module was imported; borrowed for ever.
extern PyObject* import_handlers;

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_CALLS_H_
