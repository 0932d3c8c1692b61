// Where the interpreter of a process keeps what its threads run, so that another process can read
// it. The process publishes this in its page. C and C++; libc only.
#ifndef RLSCOPE_TRACE_LAYOUT_INTERPRETER_LAYOUT_H_
#define RLSCOPE_TRACE_LAYOUT_INTERPRETER_LAYOUT_H_

#include <stdint.h>

// Offsets are in bytes, from the beginning of the object. An object may be a struct of CPython that
// only its own release knows: the extension module is compiled for one.
struct rlscope_interpreter_layout {
  uint64_t interpreter;  // address of the main interpreter's state; 0: nothing is known
  uint64_t code_type;    // address of the type of code objects

  uint32_t first_thread;  // of the interpreter's state: its newest thread
  // In a thread's state:
  uint32_t next_thread;
  uint32_t os_tid;      // with has_handle: the C library's handle of the thread
  uint32_t has_handle;  // 1: until 3.10
  uint32_t handle_tid;  // the system's number, in what the handle points to
  uint32_t current;     // its innermost frame; with has_holder: what holds the pointer to it
  uint32_t has_holder;  // 1: until 3.12
  uint32_t holder_frame;
  uint32_t stack_chunk;  // where its frames lie, the newest piece
  uint32_t stack_top;    // end of what is used of it
  // In a frame:
  uint32_t has_frame_objects;  // 1: until 3.10. A frame lies by itself, not on the thread's stack
  uint32_t code;
  uint32_t code_tag;  // bits of the pointer to the code that are no address
  uint32_t caller;
  uint32_t instruction;    // a pointer; with has_frame_objects its place in the code, an int
  uint32_t owner;          // a byte
  uint32_t foreign_owner;  // from this value on the interpreter's own, which runs no code
  // In a code object:
  uint32_t type;
  uint32_t instruction_count;  // with has_frame_objects: not there
  uint32_t file;
  uint32_t name;  // qualified; until 3.10 not
  uint32_t first_line;
  uint32_t line_table;
  uint32_t instructions;
  // In texts and bytes:
  uint32_t text_length;
  uint32_t text_state;
  uint32_t ascii_mask;  // of the word at text_state
  uint32_t compact_mask;
  uint32_t kind_mask;  // bytes of a character, from the lowest bit of the mask on
  uint32_t ascii_data;
  uint32_t compact_data;
  uint32_t bytes_length;
  uint32_t bytes_data;
};

#endif  // RLSCOPE_TRACE_LAYOUT_INTERPRETER_LAYOUT_H_
