#include "python/runtime_module/name_text.h"

#include "trace/layout/shared_pages.h"

namespace rlscope::python {

bool IsName(PyObject* name, const char* what) {
  if (PyUnicode_Check(name)) return true;
  PyErr_Format(PyExc_TypeError, "%s must be str, not %.100s", what, Py_TYPE(name)->tp_name);
  return false;
}

NameText::NameText(PyObject* name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == nullptr) {
    PyErr_Clear();
    bytes_ = PyUnicode_AsEncodedString(name, "utf-8", "replace");
    if (bytes_ == nullptr) {
      PyErr_Clear();
      return;
    }
    text = PyBytes_AS_STRING(bytes_);
    size = PyBytes_GET_SIZE(bytes_);
  }
  if (size > static_cast<Py_ssize_t>(trace::kMaxNameBytes)) {
    size = trace::kMaxNameBytes;
    while (size > 0 && (text[size] & 0xC0) == 0x80) --size;  // not inside a character
  }
  data_ = text;
  size_ = static_cast<size_t>(size);
}

}  // namespace rlscope::python
