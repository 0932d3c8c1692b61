#include "python/runtime_module/tensors.h"

namespace rlscope::python {

using native_calls::Owned;

Owned ShapeOf(PyObject* object) {
  static PyObject* const name = PyUnicode_InternFromString("shape");
  PyObject* descriptor = name == nullptr ? nullptr : _PyType_Lookup(Py_TYPE(object), name);
  if (descriptor == nullptr || !Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) return Owned();
  Owned shape(PyObject_GetAttr(object, name));
  if (shape && PyTuple_Check(shape.get())) return shape;
  PyErr_Clear();
  return Owned();
}

Numbers NumbersOf(PyObject* tensor) {
  const Owned type(PyObject_GetAttrString(tensor, "dtype"));
  const Owned is_real(type ? PyObject_GetAttrString(type.get(), "is_floating_point") : nullptr);
  const Owned size(is_real ? PyObject_GetAttrString(type.get(), "itemsize") : nullptr);
  const bool is_double = size && PyLong_Check(size.get()) && PyLong_AsLong(size.get()) == 8;
  PyErr_Clear();
  if (is_real.get() == Py_False) return Numbers::kWhole;
  if (is_real.get() != Py_True) return Numbers::kUnknown;
  return is_double ? Numbers::kDouble : Numbers::kSingle;
}

}  // namespace rlscope::python
