#include "python/runtime_module/track_records.h"

#include <string.h>

#include "native_calls/owned.h"
#include "python/runtime_module/iterations.h"
#include "python/runtime_module/phase.h"
#include "python/runtime_module/thread_name.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

using native_calls::ErrorAside;

ModuleState* track_phases = nullptr;

bool FollowWindow() {
  const ErrorAside aside;
  return IsRecordingInPhase(track_phases);
}

// The first record of a thread gives it a name, by Python code that must not see an exception.
bool MakeRoom() {
  const ErrorAside aside;
  const uint32_t thread = rlscope_self.thread;
  if (!rlscope_make_room(2)) return false;
  if (rlscope_self.thread == thread) return true;
  NameThread();
  return rlscope_make_room(2) != 0;
}

bool BeginIteration() {
  const ErrorAside aside;
  int boundary = 0;
  InPhase(track_phases, [&] { boundary = rlscope_iteration(/*automatic=*/1); });
  if ((boundary & RLSCOPE_COUNTED) != 0 && !TellIteration()) {
    // The call goes on; the exception comes at the thread's next bytecode.
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), PyErr_Occurred());
  }
  return (boundary & RLSCOPE_ENDS_PROGRAM) != 0;
}

uint32_t NameOfOperation(const char* operation) {
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kOperationName);
  return rlscope_intern_name(kind, 0, operation, strlen(operation));
}

}  // namespace rlscope::python
