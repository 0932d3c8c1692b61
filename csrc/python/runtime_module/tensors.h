// What tensors tell of themselves, without code of the program. Callers hold the GIL, and put a
// pending exception aside.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TENSORS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TENSORS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native_calls/owned.h"

namespace rlscope::python {

// Of a tensor, whose shape C code tells; null where it is none.
native_calls::Owned ShapeOf(PyObject* object);

enum class Numbers { kUnknown, kWhole, kSingle, kDouble };

// What a tensor has: kSingle are numbers of any other precision. Of arrays it is not known.
Numbers NumbersOf(PyObject* tensor);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TENSORS_H_
