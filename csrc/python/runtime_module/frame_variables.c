/* A file of its own, because the internal headers are C only. */
#define Py_BUILD_CORE_MODULE 1
#include "python/runtime_module/frame_variables.h"

/* As interpreter_layout.c. */
#if defined(Py_GIL_DISABLED) || defined(PYPY_VERSION) || PY_VERSION_HEX >= 0x030F0000

int rlscope_find_variables(struct rlscope_frame_variables* variables) {
  (void)variables;
  return 0;
}

#elif PY_VERSION_HEX >= 0x030B0000

#include "internal/pycore_frame.h"
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe_structs.h"
#endif

static const struct _PyInterpreterFrame* TopFrame(void) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_Get()->current_frame;
#else
  return PyThreadState_Get()->cframe->current_frame;
#endif
}

static const PyCodeObject* CodeOf(const struct _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  return (const PyCodeObject*)(frame->f_executable.bits & ~(uintptr_t)7);
#elif PY_VERSION_HEX >= 0x030D0000
  return (const PyCodeObject*)frame->f_executable;
#else
  return frame->f_code;
#endif
}

int rlscope_find_variables(struct rlscope_frame_variables* variables) {
  const struct _PyInterpreterFrame* const frame = TopFrame();
  if (frame == NULL || frame->owner > FRAME_OWNED_BY_FRAME_OBJECT) return 0;
  const PyCodeObject* const code = CodeOf(frame);
  variables->frame = frame;
  variables->code = code;
  variables->fast = (const uintptr_t*)frame->localsplus;
  variables->fast_count = code->co_nlocalsplus;
  variables->by_name = (code->co_flags & CO_OPTIMIZED) ? NULL : frame->f_locals;
  return 1;
}

#else

#include <frameobject.h>

int rlscope_find_variables(struct rlscope_frame_variables* variables) {
  const PyFrameObject* const frame = PyThreadState_Get()->frame;
  if (frame == NULL) return 0;
  const PyCodeObject* const code = frame->f_code;
  variables->frame = frame;
  variables->code = code;
  variables->fast = (const uintptr_t*)frame->f_localsplus;
  variables->fast_count =
      code->co_nlocals + PyTuple_GET_SIZE(code->co_cellvars) + PyTuple_GET_SIZE(code->co_freevars);
  variables->by_name = (code->co_flags & CO_OPTIMIZED) ? NULL : frame->f_locals;
  return 1;
}

#endif
