// The stopwatch of the annotations, for `rlscope validate`: how long each operation takes in a
// process that records nothing. It adds up, for each thread and path of operations, the time in
// which the operation was the innermost one, by the rules of the trace.
//
//      clock      clock              clock      clock
//  ------|==========|------------------|==========|------
//  outer    enter          operation       exit      outer
//
// An enter or exit reads the clock twice, and what it does in between (=) belongs to nobody. What
// remains of its cost lies around the readings: the call and its return, and half of each reading.
// Such a half event is counted where it lies, so that its cost can be taken out later.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_STOPWATCH_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_STOPWATCH_H_

#include <stdint.h>

#include "python/runtime_module/operation.h"
#include "runtime/hot.h"

namespace rlscope::python {

// The event of a process that is RLSCOPE_TIMED. False: it is not any more. With the GIL; an
// exception may be pending.
bool TimeEvent(uint32_t kind, const OperationObject& operation);

// True: the process runs the stopwatch, which has seen the event.
inline bool TimeOperation(uint32_t kind, const OperationObject& operation) {
  return runtime::Load(rlscope_process.state) == RLSCOPE_TIMED && TimeEvent(kind, operation);
}

// time_operations() and take_operation_times() of the module: 0, or -1 with a Python error set.
int AddStopwatch(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_STOPWATCH_H_
