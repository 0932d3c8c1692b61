#include "python/runtime_module/observation.h"

#include <string.h>

#include "native_calls/owned.h"

namespace rlscope::python {

namespace {

// Numbers and texts are shared by whatever has the same value.
bool HasIdentity(PyObject* object) {
  return object != Py_None && !PyLong_Check(object) && !PyFloat_CheckExact(object) &&
         !PyUnicode_Check(object);
}

PyObject* FirstItem(PyObject* object) {
  if (PyTuple_Check(object) && PyTuple_GET_SIZE(object) > 0) return PyTuple_GET_ITEM(object, 0);
  if (PyList_CheckExact(object) && PyList_GET_SIZE(object) > 0) return PyList_GET_ITEM(object, 0);
  return nullptr;
}

}  // namespace

void Observation::Set(PyObject* result) {
  count_ = 0;
  converted_ = made_ = nullptr;
  if (result == nullptr) return;
  const bool is_tuple = PyTuple_Check(result) && PyTuple_GET_SIZE(result) > 0;
  PyObject* whole = is_tuple ? PyTuple_GET_ITEM(result, 0) : result;
  Add(whole);
  if (PyDict_CheckExact(whole)) {
    PyObject* value;
    Py_ssize_t position = 0;
    while (PyDict_Next(whole, &position, nullptr, &value)) Add(value);
  } else if (PyTuple_Check(whole)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(whole); i++) Add(PyTuple_GET_ITEM(whole, i));
  }
}

void Observation::Add(PyObject* object) {
  if (count_ < kMostParts && HasIdentity(object)) parts_[count_++] = object;
}

bool Observation::Holds(const PyObject* object) const {
  for (int i = 0; i < count_; i++) {
    if (parts_[i] == object) return true;
  }
  return false;
}

bool Observation::Covers(PyObject* object) const {
  if (count_ == 0 || object == nullptr) return false;
  if (object == converted_ || Holds(object)) return true;
  if (const PyObject* first = FirstItem(object)) return Holds(first);
  // By name: libraries that have arrays need not be loaded.
  if (strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") != 0) return false;
  const native_calls::ErrorAside aside;
  const native_calls::Owned base(PyObject_GetAttrString(object, "base"));
  return Holds(base.get());
}

}  // namespace rlscope::python
