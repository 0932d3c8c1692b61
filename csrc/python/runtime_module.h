// rlscope._runtime: common to its parts. Plain CPython C API, one state per interpreter, and no
// state of the process: that is librlscope.so's alone.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <structmember.h>
#include <sys/types.h>

#include "python/runtime_tasks.h"

namespace rlscope::python {

struct ModuleState {
  PyTypeObject* operation_type;
  PyTypeObject* annotated_type;  // a decorated function
  PyTypeObject* drainer_type;
  PyObject* probe;      // operation that probes enter; null: the interpreter has ended
  PyObject* phase;      // str that names the phase now; null: none
  pid_t phase_process;  // whose phase that is: a fork child begins without one
  TaskTable* tasks;
  bool python_begun;  // python_end is registered with atexit
};

inline ModuleState* StateOf(PyObject* module) {
  return static_cast<ModuleState*>(PyModule_GetState(module));
}

// Parts of the module. Each Add... makes its types and stores them in the state: 0, or -1 with a
// Python error set.
int AddOperations(PyObject* module);
int AddOperationTable(PyObject* module);
int AddAnnotated(PyObject* module);
int AddAutomatic(PyObject* module);
int AddDrainer(PyObject* module);

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

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_H_
