// _runtime.StandIn: takes the place of a function in the dictionary of its class and is that
// function to every look: class, name, signature, code, attributes, pickles. Only a call goes
// another way.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_STAND_IN_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_STAND_IN_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// The object that stands for a function; its head is what the code around a call needs.
struct StandInObject {
  PyObject ob_base;
  PyObject* function;
  vectorcallfunc call;  // of the function
  vectorcallfunc vectorcall;
  PyObject* weak_references;
};

// Its type, a new reference; null with a Python error set.
PyObject* NewStandInType(PyObject* module);
// Calls of the object go to `vectorcall`.
PyObject* NewStandIn(PyTypeObject* type, vectorcallfunc vectorcall, PyObject* function);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_STAND_IN_H_
