// What an interpreter has of rlscope._runtime. Plain CPython C API, one state per interpreter, and
// no state of the process: that is librlscope.so's alone.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_MODULE_STATE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_MODULE_STATE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sys/types.h>

#include "python/runtime_module/tasks.h"

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

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_MODULE_STATE_H_
