// Probes of what recording costs in this program (runtime/probe.h says when): a native call that
// does nothing, through a stub and without one; an operation that is recorded, and one as in a
// process that never records; nothing at all. Each is one call between two readings of the clock,
// and not a loop: it finds the caches as the program left them.
//
// With the GIL. No probe calls Python code, allocates or raises. It may run with an exception
// pending.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_PROBE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_PROBE_H_

#include <stdint.h>

#include "python/runtime_module/module_state.h"
#include "python/runtime_module/operation.h"

namespace rlscope::python {

// Makes the operation that probes enter: 0, or -1 with a Python error set.
int AddProbes(ModuleState* state);

// Whether it is that one.
inline bool IsProbe(const OperationObject& operation) {
  return operation.shifted_id == trace::kProbeOperation << trace::kIdShift;
}

// Runs the probe that a record made due, written at `ticks`, if it is its turn. `state`: of the
// interpreter that runs.
void RunProbe(ModuleState* state, uint64_t ticks);

// __enter__ and __exit__ of operations (operations.cc): those that programs call, and a
// copy that takes the path of a process that never records.
struct ProbeMethods {
  PyObject* (*enter)(PyObject* operation, PyObject*);
  PyObject* (*exit)(PyObject* operation, PyObject* const*, Py_ssize_t);
};
extern ProbeMethods recorded_probe;  // a test's delay makes others
extern const ProbeMethods idle_probe;

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_PROBE_H_
