// Garbage collections of the interpreter as records: complete calls of layer python
// (docs/reference/semantics.md#garbage-collections).
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_COLLECTIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_COLLECTIONS_H_

#include <Python.h>

namespace rlscope::python {

// An entry of gc.callbacks: note_collection(phase, info). It raises nothing.
PyObject* NoteCollection(PyObject* module, PyObject* const* arguments, Py_ssize_t count);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_COLLECTIONS_H_
