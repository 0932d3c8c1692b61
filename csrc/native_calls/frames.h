// Whether Python code runs on a thread.
#ifndef RLSCOPE_NATIVE_CALLS_FRAMES_H_
#define RLSCOPE_NATIVE_CALLS_FRAMES_H_

#include <Python.h>

namespace rlscope::native_calls {

// `thread` is the calling thread's own state; its lock is not needed.
inline bool HasFrame(const PyThreadState* thread) {
#if PY_VERSION_HEX >= 0x030D0000
  return thread->current_frame != nullptr;
#elif PY_VERSION_HEX >= 0x030B0000
  return thread->cframe->current_frame != nullptr;
#else
  return thread->frame != nullptr;
#endif
}

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_FRAMES_H_
