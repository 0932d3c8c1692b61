#include "python/runtime_module/phase.h"

#include <unistd.h>

#include "python/runtime_module/name_text.h"
#include "runtime/hot.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

// The phase's name, swapped in one step for threads without a GIL; takes over `name`.
PyObject* Exchange(ModuleState* state, PyObject* name) {
  return __atomic_exchange_n(&state->phase, name, __ATOMIC_ACQ_REL);
}

void Write(PyObject* name) {
  if (!runtime::IsRecording()) return;
  uint32_t id = 0;
  if (name != nullptr) {
    const NameText text(name);
    id = rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kPhaseName), 0, text.data(),
                             text.size());
  }
  rlscope_record(trace::kPhase, id);
}

// A fork child begins without a phase: what its parent was in is the parent's.
void ForgetAfterFork(ModuleState* state) {
  const pid_t process = getpid();
  if (state->phase_process == process) return;
  state->phase_process = process;
  Py_XDECREF(Exchange(state, nullptr));
}

}  // namespace

PyObject* BeginPhase(PyObject* module, PyObject* name) {
  if (name != Py_None && !IsName(name, "name of a phase")) return nullptr;
  ModuleState* state = StateOf(module);
  ForgetAfterFork(state);
  PyObject* now = name == Py_None ? nullptr : Py_NewRef(name);
  PyObject* before = Exchange(state, now);
  Write(now);
  if (before != nullptr) return before;
  Py_RETURN_NONE;
}

bool IsRecordingInPhase(ModuleState* state) {
  const bool before = runtime::Load(rlscope_process.state) == RLSCOPE_RECORDING;
  const bool now = runtime::IsRecording();
  if (now && !before) RecordPhase(state);
  return now;
}

void RecordPhase(ModuleState* state) {
  ForgetAfterFork(state);
  if (state->phase != nullptr) Write(state->phase);
}

}  // namespace rlscope::python
