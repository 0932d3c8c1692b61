/* The layout of this release's interpreter. A file of its own, because the internal headers are C
   only. */
#define Py_BUILD_CORE_MODULE 1
#define PY_SSIZE_T_CLEAN
#include "trace/layout/interpreter_layout.h"

#include <Python.h>
#include <stddef.h>
#include <string.h>

/* 3.10 has no frames but objects and no system's number of a thread. Without a GIL, code has a copy
   for each thread. */
#if PY_VERSION_HEX >= 0x030B0000 && !defined(Py_GIL_DISABLED) && !defined(PYPY_VERSION)
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe_structs.h"
#endif

static uint32_t StateMask(PyASCIIObject text) {
  uint32_t word;
  memcpy(&word, &text.state, sizeof word);
  return word;
}

void rlscope_fill_interpreter_layout(struct rlscope_interpreter_layout* layout) {
  PyASCIIObject ascii, compact, kind;
  memset(&ascii, 0, sizeof ascii);
  compact = kind = ascii;
  ascii.state.ascii = 1;
  compact.state.compact = 1;
  kind.state.kind = 7;
  *layout = (struct rlscope_interpreter_layout){
      .interpreter = (uint64_t)(uintptr_t)PyInterpreterState_Main(),
      .code_type = (uint64_t)(uintptr_t)&PyCode_Type,
      .first_thread = offsetof(PyInterpreterState, threads.head),
      .next_thread = offsetof(PyThreadState, next),
      .os_tid = offsetof(PyThreadState, native_thread_id),
      .stack_chunk = offsetof(PyThreadState, datastack_chunk),
      .stack_top = offsetof(PyThreadState, datastack_top),
      .caller = offsetof(struct _PyInterpreterFrame, previous),
      .owner = offsetof(struct _PyInterpreterFrame, owner),
      .foreign_owner = FRAME_OWNED_BY_FRAME_OBJECT + 1,
#if PY_VERSION_HEX >= 0x030D0000
      .current = offsetof(PyThreadState, current_frame),
      .code = offsetof(struct _PyInterpreterFrame, f_executable),
      .instruction = offsetof(struct _PyInterpreterFrame, instr_ptr),
#else
      .current = offsetof(PyThreadState, cframe),
      .has_holder = 1,
      .holder_frame = offsetof(_PyCFrame, current_frame),
      .code = offsetof(struct _PyInterpreterFrame, f_code),
      .instruction = offsetof(struct _PyInterpreterFrame, prev_instr),
#endif
#if PY_VERSION_HEX >= 0x030E0000
      .code_tag = 7,
#endif
      .type = offsetof(PyObject, ob_type),
      .instruction_count = offsetof(PyVarObject, ob_size),
      .file = offsetof(PyCodeObject, co_filename),
      .name = offsetof(PyCodeObject, co_qualname),
      .first_line = offsetof(PyCodeObject, co_firstlineno),
      .line_table = offsetof(PyCodeObject, co_linetable),
      .instructions = offsetof(PyCodeObject, co_code_adaptive),
      .text_length = offsetof(PyASCIIObject, length),
      .text_state = offsetof(PyASCIIObject, state),
      .ascii_mask = StateMask(ascii),
      .compact_mask = StateMask(compact),
      .kind_mask = StateMask(kind),
      .ascii_data = sizeof(PyASCIIObject),
      .compact_data = sizeof(PyCompactUnicodeObject),
      .bytes_length = offsetof(PyVarObject, ob_size),
      .bytes_data = offsetof(PyBytesObject, ob_sval),
  };
}
#else
void rlscope_fill_interpreter_layout(struct rlscope_interpreter_layout* layout) {
  memset(layout, 0, sizeof *layout);
}
#endif
