// The stubs of stub_pool.h. Assembled for the CPU it is built for; a test assembles both.
#include "native_calls/stub_count.h"

#if defined(__x86_64__)
#define STUB endbr64; movl $index, %r9d; jmp rlscope_call
#elif defined(__aarch64__)
// hint #34 is bti c, under the name that every assembler knows.
#define STUB hint #34; movz w5, #index; b rlscope_call
#else
#error "no stubs for this CPU"
#endif

  .section .text.rlscope_stubs, "ax", %progbits
  .p2align 6
  .globl rlscope_stubs
  .hidden rlscope_stubs
  .hidden rlscope_call
#if defined(__aarch64__)
  .type rlscope_stubs, %function
#else
  .type rlscope_stubs, @function
#endif
rlscope_stubs:
  .cfi_startproc
  .set index, 0
  .rept RLSCOPE_STUBS
  STUB
  .p2align 4
  .set index, index + 1
  .endr
  .cfi_endproc
  .size rlscope_stubs, . - rlscope_stubs

  .section .note.GNU-stack, "", %progbits
