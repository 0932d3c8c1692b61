/* Where CPython before 3.12 keeps the state of the running thread: a word of _PyRuntime. A file of
   its own, because the internal headers are C only. */
#include <patchlevel.h>

#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE_MODULE 1
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "internal/pycore_runtime.h"

const PyThreadState* const volatile* rlscope_current_thread_word(void) {
  return (const PyThreadState* const volatile*)(void*)&_PyRuntime.gilstate.tstate_current;
}
#else
typedef int rlscope_not_needed; /* C wants a translation unit to hold something */
#endif
