// The stubs of stub_pool.h for x86-64, and what they do before and after the call (call.h) as far as
// it is usual: a compiler cannot keep the arguments in their registers meanwhile. In C++, for other
// CPUs, it is rlscope_call().
//
// Free at the begin are rax, r10 and r11, at the end all that a callee may change, but rax. The word
// that a stub pushes is what the begin tells the end:
//
//   0                                 nothing is to be done
//   rlscope_self                      a call was begun that is one record
//   rlscope_self | LOOKED_AT          the same, and the result is looked at
//   what rlscope_begin_rarely() says  is for rlscope_end_rarely()
//
// The last two are negative.
#include "interception/call_layout.h"
#include "interception/stub_count.h"

#if defined(__x86_64__)

#define ENTRY %r9
#define PROCESS %r10
#define ITS_ENTRY rlscope_entry_table + RLSCOPE_TABLE_ENTRIES + index * RLSCOPE_ENTRY_BYTES(%rip)
#define UNWOUND_TOGETHER 32
#define TABLE(field) field + rlscope_entry_table(%rip)

  .hidden rlscope_entry_table
  .hidden rlscope_begin_rarely
  .hidden rlscope_end_rarely
  .hidden rlscope_end_unusually
  .hidden rlscope_end_long
  .hidden rlscope_look_at

  .section .text.rlscope_stubs, "ax", @progbits
  .p2align 12

// A handful of tests in a row and two reads of the clock are the price of every native call of the
// program. What a call must remember lies in the thread's 64 bytes, so that there is nothing to find
// again after it. The tests are those of runtime::IsRecording() and runtime::HasRoom(). A CPU answers
// a second read of the clock some 10 ns after the first: what the record needs is done in between,
// as far as registers allow. The order is the fastest of those tried.
//
// Between two operators of PyTorch a CPU forgets all of it, so the usual way is straight code,
// without a branch that is taken, on one page with the stubs of hot functions.
  .globl rlscope_begin
  .hidden rlscope_begin
  .type rlscope_begin, @function
rlscope_begin:
  .cfi_startproc
  movq TABLE(RLSCOPE_TABLE_PROCESS), PROCESS
  movabsq $RLSCOPE_RECORDS_USUALLY, %r11
  movl RLSCOPE_ENTRY_FLAGS(ENTRY), %eax
  cmpq %r11, RLSCOPE_PROCESS_STATE(PROCESS)
  jne .Lpaused
  testl %eax, %eax
  jne .Lflagged
.Lbegin_usually:
  movq %fs:0, %r11
  addq TABLE(RLSCOPE_TABLE_SELF_OFFSET), %r11
  cmpl $0, RLSCOPE_THREAD_CALL(%r11)
  jne .Lnothing_begins
  movq %r11, 8(%rsp)
  movq RLSCOPE_PROCESS_WINDOW_WORD(PROCESS), %rax
  movl (%rax), %eax
  cmpl %eax, RLSCOPE_PROCESS_WINDOW_SEEN(PROCESS)
  jne .Lbegin_rarely
  movl RLSCOPE_PROCESS_GENERATION(PROCESS), %eax
  movq %rdx, %r10
  cmpl %eax, RLSCOPE_THREAD_GENERATION(%r11)
  jne .Lbegin_rarely
  rdtsc
  shlq $32, %rdx
  orq %rdx, %rax
  movq RLSCOPE_THREAD_LIMIT(%r11), %rdx
  cmpq %rdx, RLSCOPE_THREAD_CURSOR(%r11)
  je .Lfull
  movl RLSCOPE_ENTRY_WORD(ENTRY), %edx
  movl %edx, RLSCOPE_THREAD_CALL(%r11)
  movq %rax, RLSCOPE_THREAD_CALL_START(%r11)
  movq %r10, %rdx
  ret

.Lpaused:
  cmpl $RLSCOPE_IS_PAUSED, RLSCOPE_PROCESS_STATE(PROCESS)
  jne .Lbegin_rarely
  movq RLSCOPE_PROCESS_WINDOW_WORD(PROCESS), %r11
  movl (%r11), %r11d
  cmpl %r11d, RLSCOPE_PROCESS_WINDOW_SEEN(PROCESS)
  jne .Lbegin_rarely
  cmpl $RLSCOPE_RESULT_HOOK, %eax
  jge .Lbegin_rarely
.Lnothing_begins:
  movq $0, 8(%rsp)
  ret

.Lflagged:
  cmpl $RLSCOPE_RESULT_HOOK, %eax
  jne .Lbegin_rarely
  xorl %eax, %eax
  pushq %rax
  .cfi_adjust_cfa_offset 8
  call .Lbegin_usually
  popq %r11
  .cfi_adjust_cfa_offset -8
  movabsq $RLSCOPE_LOOKED_AT, %rax
  orq %r11, %rax
  movq %rax, 8(%rsp)
  ret

.Lfull:
  movq %r10, %rdx
.Lbegin_rarely:
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  movq ENTRY, %rdi
  call rlscope_begin_rarely
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  movq %rax, 8(%rsp)
  ret
  .cfi_endproc
  .size rlscope_begin, . - rlscope_begin

// The slot is taken before the record in it is whole, so that what a signal's handler records lies in
// the next one; the word is stored last, for it makes the record valid.
  .p2align 6
  .globl rlscope_end
  .hidden rlscope_end
  .type rlscope_end, @function
rlscope_end:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  popq %r10
  .cfi_def_cfa_offset 8
  testq %r10, %r10
  jle .Lend_rarely
.Lend_usually:
  movq TABLE(RLSCOPE_TABLE_PROCESS), %r11
  movq RLSCOPE_THREAD_CALL_START(%r10), %rdi
  movq RLSCOPE_THREAD_CURSOR(%r10), %rsi
  movl RLSCOPE_PROCESS_GENERATION(%r11), %ecx
  testq %rdi, %rdi
  je .Lend_unusually
  cmpq RLSCOPE_THREAD_LIMIT(%r10), %rsi
  je .Lend_unusually
  cmpl RLSCOPE_THREAD_GENERATION(%r10), %ecx
  jne .Lend_unusually
  movzbl RLSCOPE_THREAD_LAP(%r10), %ecx
  orl RLSCOPE_THREAD_CALL(%r10), %ecx
  leaq RLSCOPE_SLOT_BYTES(%rsi), %r11
  movq %rdi, RLSCOPE_SLOT_TSC(%rsi)
  movq %rax, %r9
  movq %r11, RLSCOPE_THREAD_CURSOR(%r10)
  movq $0, RLSCOPE_THREAD_CALL_START(%r10)
  movl $0, RLSCOPE_THREAD_CALL(%r10)
  rdtsc
  shlq $32, %rdx
  orq %rax, %rdx
  movq %rdx, %r8
  subq %rdi, %rdx
  movq %rdx, %rax
  shrq $32, %rax
  jne .Llong
  movl %edx, RLSCOPE_SLOT_DURATION(%rsi)
  movq %r9, %rax
  movl %ecx, RLSCOPE_SLOT_WORD(%rsi)
  ret

.Lend_rarely:
  jne .Lend_otherwise
  ret
.Lend_otherwise:
  btrq $63, %r10
  cmpq $RLSCOPE_BEGUN_BITS, %r10
  ja .Llooked_at
  movq %rax, %rdi
  movl %r10d, %esi
  jmp rlscope_end_rarely

.Llooked_at:
  andq $~RLSCOPE_BEGUN_BITS, %r10
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call .Lend_usually
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  movq %rax, %rdi
  jmp rlscope_look_at

.Lend_unusually:
  movq %rax, %rdi
  jmp rlscope_end_unusually

.Llong:
  movq %rdi, %rdx
  movq %r9, %rdi
  jmp rlscope_end_long
  .cfi_endproc
  .size rlscope_end, . - rlscope_end

  .p2align 5
  .globl rlscope_stubs
  .hidden rlscope_stubs
  .type rlscope_stubs, @function
rlscope_stubs:
// Plain rules, for unwinders of profilers know no others, PyTorch's among them: one expression for
// all, as a .plt has, would be half a page. An unwinder reads those of UNWOUND_TOGETHER stubs.
  .set index, 0
  .rept RLSCOPE_STUBS / UNWOUND_TOGETHER
  .cfi_startproc
  .rept UNWOUND_TOGETHER
  .cfi_def_cfa_offset 8
  endbr64
  pushq %rax
  .cfi_def_cfa_offset 16
  leaq ITS_ENTRY, ENTRY
  call rlscope_begin
  call *ITS_ENTRY
  jmp rlscope_end
  .p2align 5
  .set index, index + 1
  .endr
  .cfi_endproc
  .endr
  .size rlscope_stubs, . - rlscope_stubs

#endif  // defined(__x86_64__)

  .section .note.GNU-stack, "", %progbits
