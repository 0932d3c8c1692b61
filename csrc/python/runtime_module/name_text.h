// Names that Python gives, as text for the trace.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_NAME_TEXT_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_NAME_TEXT_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>

namespace rlscope::python {

// UTF-8 of a name while the object lives: lone surrogates replaced by "?", cut to
// trace::kMaxNameBytes at the border of a character.
class NameText {
 public:
  // `name` is a str, borrowed; with an error set (memory) the text is empty.
  explicit NameText(PyObject* name);
  ~NameText() { Py_XDECREF(bytes_); }
  NameText(const NameText&) = delete;
  NameText& operator=(const NameText&) = delete;

  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  PyObject* bytes_ = nullptr;  // owned; only for names with surrogates
  const char* data_ = "";
  size_t size_ = 0;
};

// Raises TypeError("<what> must be str, not <type>") unless `name` is a str.
bool IsName(PyObject* name, const char* what);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_NAME_TEXT_H_
