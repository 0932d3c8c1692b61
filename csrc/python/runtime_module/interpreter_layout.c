/* The layout of this release's interpreter. A file of its own, because the internal headers are C
   only. */
#define Py_BUILD_CORE_MODULE 1
#define PY_SSIZE_T_CLEAN
#include "trace/layout/interpreter_layout.h"

#include <Python.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Without a GIL, code has a copy for each thread. Releases after 3.14 were not tried. */
#if defined(Py_GIL_DISABLED) || defined(PYPY_VERSION) || PY_VERSION_HEX >= 0x030F0000
#define IS_KNOWN 0
#else
#define IS_KNOWN 1
#endif

#if IS_KNOWN
#include "internal/pycore_interp.h"
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_frame.h"
#else
#include <frameobject.h>
#endif
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe_structs.h"
#endif

static uint32_t StateMask(PyASCIIObject text) {
  uint32_t word;
  memcpy(&word, &text.state, sizeof word);
  return word;
}

static void FillObjects(struct rlscope_interpreter_layout* layout) {
  PyASCIIObject ascii, compact, kind;
  memset(&ascii, 0, sizeof ascii);
  compact = kind = ascii;
  ascii.state.ascii = 1;
  compact.state.compact = 1;
  kind.state.kind = 7;
  layout->code_type = (uint64_t)(uintptr_t)&PyCode_Type;
  layout->type = offsetof(PyObject, ob_type);
  layout->file = offsetof(PyCodeObject, co_filename);
  layout->first_line = offsetof(PyCodeObject, co_firstlineno);
  layout->line_table = offsetof(PyCodeObject, co_linetable);
  layout->text_length = offsetof(PyASCIIObject, length);
  layout->text_state = offsetof(PyASCIIObject, state);
  layout->ascii_mask = StateMask(ascii);
  layout->compact_mask = StateMask(compact);
  layout->kind_mask = StateMask(kind);
  layout->ascii_data = sizeof(PyASCIIObject);
  layout->compact_data = sizeof(PyCompactUnicodeObject);
  layout->bytes_length = offsetof(PyVarObject, ob_size);
  layout->bytes_data = offsetof(PyBytesObject, ob_sval);
}
#endif

#if !IS_KNOWN
void rlscope_fill_interpreter_layout(struct rlscope_interpreter_layout* layout) {
  memset(layout, 0, sizeof *layout);
}
#elif PY_VERSION_HEX >= 0x030B0000
void rlscope_fill_interpreter_layout(struct rlscope_interpreter_layout* layout) {
  *layout = (struct rlscope_interpreter_layout){
      .interpreter = (uint64_t)(uintptr_t)PyInterpreterState_Main(),
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
      .name = offsetof(PyCodeObject, co_qualname),
      .instruction_count = offsetof(PyVarObject, ob_size),
      .instructions = offsetof(PyCodeObject, co_code_adaptive),
  };
  FillObjects(layout);
}
#else
void rlscope_fill_interpreter_layout(struct rlscope_interpreter_layout* layout) {
  /* What glibc keeps for debuggers: bits, count and offset of the system's number of a thread in
     what pthread_self() points to. */
  const uint32_t* const tid = (const uint32_t*)dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid");
  memset(layout, 0, sizeof *layout);
  if (tid == NULL || tid[0] != 32) return;
  *layout = (struct rlscope_interpreter_layout){
      .interpreter = (uint64_t)(uintptr_t)PyInterpreterState_Main(),
      .first_thread = offsetof(PyInterpreterState, tstate_head),
      .next_thread = offsetof(PyThreadState, next),
      .os_tid = offsetof(PyThreadState, thread_id),
      .has_handle = 1,
      .handle_tid = tid[2],
      .current = offsetof(PyThreadState, frame),
      .has_frame_objects = 1,
      .code = offsetof(PyFrameObject, f_code),
      .caller = offsetof(PyFrameObject, f_back),
      .instruction = offsetof(PyFrameObject, f_lasti),
      .name = offsetof(PyCodeObject, co_name),
  };
  FillObjects(layout);
}
#endif
