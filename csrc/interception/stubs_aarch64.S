// The stubs of stub_pool.h for aarch64.
#include "interception/stub_count.h"

#if defined(__aarch64__)

  .section .text.rlscope_stubs, "ax", %progbits
  .p2align 6
  .globl rlscope_stubs
  .hidden rlscope_stubs
  .hidden rlscope_call
  .type rlscope_stubs, %function
rlscope_stubs:
  .cfi_startproc
  .set index, 0
  .rept RLSCOPE_STUBS
  hint #34  // bti c, under the name that every assembler knows
  movz w5, #index
  b rlscope_call
  .p2align 4
  .set index, index + 1
  .endr
  .cfi_endproc
  .size rlscope_stubs, . - rlscope_stubs

#endif  // defined(__aarch64__)

  .section .note.GNU-stack, "", %progbits
