// The phase of the process, as the annotations set it.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_PHASE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_PHASE_H_

#include "python/runtime_module/module_state.h"
#include "runtime/hot.h"

namespace rlscope::python {

// begin_phase(name or None) -> name of the phase before, or None.
PyObject* BeginPhase(PyObject* module, PyObject* name);

// runtime::IsRecording(), and where that finds that a window has started, the current phase is
// written into it: no other part knows what began before the window.
bool IsRecordingInPhase(ModuleState* state);

// Writes the current phase, if there is one.
void RecordPhase(ModuleState* state);

// Does what may begin a window: the current phase is written into it.
template <typename Change>
void InPhase(ModuleState* state, const Change& change) {
  const bool before = runtime::Load(rlscope_process.state) == RLSCOPE_RECORDING;
  change();
  if (!before && runtime::IsRecording()) RecordPhase(state);
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_PHASE_H_
