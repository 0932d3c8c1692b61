// Methods that are bound when their object is made instead of at each `with`.
//
// Up to 3.13 the interpreter binds __enter__ and __exit__ anew each time: two objects allocated
// and freed, a quarter of the price of an empty `with`. A Binder in the place of the method's
// descriptor hands out the bound method that the object already has.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_BINDER_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_BINDER_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Type of the binders of a module; new reference, or null with a Python error set.
PyObject* NewBinderType(PyObject* module);

// Replaces method `name` of `type` (not yet in use) by a binder. `offset`: where its objects have
// the bound method; where that is null the method is bound as usual. 0, or -1 with an error set.
int BindAhead(PyObject* binder_type, PyTypeObject* type, const char* name, Py_ssize_t offset);

// Binds method `name` of the object's type, past the binder; new reference.
PyObject* BindNow(PyObject* object, const char* name);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_BINDER_H_
