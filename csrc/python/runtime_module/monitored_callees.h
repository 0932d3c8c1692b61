// The callee of sys.monitoring's CALL event: the native function behind a callable, if its code is
// watched, and its name in the trace.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORED_CALLEES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORED_CALLEES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include <unordered_map>

namespace rlscope::python {

// For threads that hold the GIL.
class MonitoredCallees {
 public:
  // trace::MakeWord(trace::kCall, name, 0) of a callable whose code is watched; 0: it is not. May
  // run Python code to find a name, the first time; no exception may be pending, none is left.
  uint32_t WordOf(PyObject* callable);

 private:
  struct Known {
    const void* code;  // what lay at the key when it was named: another function may lie there now
    uint32_t word;
  };
  std::unordered_map<const void*, Known> known_;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORED_CALLEES_H_
