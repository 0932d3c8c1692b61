// A strong reference that is given up at the end of its block.
#ifndef RLSCOPE_NATIVE_CALLS_OWNED_H_
#define RLSCOPE_NATIVE_CALLS_OWNED_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::native_calls {

class Owned {
 public:
  // Takes over a new reference; null is fine.
  explicit Owned(PyObject* object = nullptr) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// Forgets an exception of our own. A Ctrl-C that came while our Python ran was meant for the
// program: it is raised again there.
inline void DropError() {
  const bool interrupted =
      PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  PyErr_Clear();
  if (interrupted) PyErr_SetInterrupt();
}

// Puts the pending exception of the interrupted code aside, and whatever happens inside is gone
// at the end of the block.
class ErrorAside {
 public:
  ErrorAside() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorAside() {
    DropError();
    PyErr_Restore(type_, value_, traceback_);
  }
  ErrorAside(const ErrorAside&) = delete;
  ErrorAside& operator=(const ErrorAside&) = delete;

 private:
  PyObject* type_;
  PyObject* value_;
  PyObject* traceback_;
};

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_OWNED_H_
