/* A file of its own, because the internal headers are C only. */
#define Py_BUILD_CORE_MODULE 1
#include "python/runtime_module/frames.h"

#include <stdint.h>
#include <string.h>

/* Releases after 3.14 were not tried. */
#if defined(Py_GIL_DISABLED) || defined(PYPY_VERSION) || PY_VERSION_HEX >= 0x030F0000

int rlscope_codes_of_thread(PyObject** codes, int most) {
  (void)codes, (void)most;
  return 0;
}

#else

#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe_structs.h"
#endif
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_frame.h"
typedef struct _PyInterpreterFrame Frame;
#else
#include <frameobject.h>
typedef PyFrameObject Frame;
#endif

#if PY_VERSION_HEX >= 0x030D0000
#define TOP_FRAME current_frame
#define CODE f_executable
#define CALLER previous
#elif PY_VERSION_HEX >= 0x030B0000
#define TOP_FRAME cframe->current_frame
#define CODE f_code
#define CALLER previous
#else
#define TOP_FRAME frame
#define CODE f_code
#define CALLER f_back
#endif

int rlscope_codes_of_thread(PyObject** codes, int most) {
  int count = 0;
  const Frame* frame = PyThreadState_Get()->TOP_FRAME;
  for (; frame != NULL && count < most; frame = frame->CALLER) {
    uintptr_t code;
    memcpy(&code, &frame->CODE, sizeof code); /* 3.14 keeps marks in its last bits */
    codes[count++] = (PyObject*)(code & ~(uintptr_t)7);
  }
  return count;
}
#endif
