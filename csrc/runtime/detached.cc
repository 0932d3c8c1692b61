#include "runtime/detached.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "runtime/rlscope.h"
#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

constexpr uint64_t kStackBytes = 64 * 1024;
constexpr int kHighDescriptor = 1000;

// CLONE_VFORK makes the kernel hold the caller until the thread is gone, so the caller's
// thread-local storage, which the thread shares, is not in use meanwhile. No CLONE_FILES: that is
// the point.
constexpr long kCloneFlags =
    CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_SYSVSEM | CLONE_VFORK;

struct Work {
  void (*work)(void*);
  void* argument;
};

void RunWork(Work* work) { work->work(work->argument); }

// clone(kCloneFlags) with `stack` as the new thread's stack, on which it calls run(work) and ends.
// The thread's number, or -errno.
long CloneAndRun(void* stack_end, void (*run)(Work*), Work* work) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  register void (*r12)(Work*) __asm__("r12") = run;
  register Work* r13 __asm__("r13") = work;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "mov %[exit], %%eax\n\t"
      "xor %%edi, %%edi\n\t"
      "syscall\n\t"
      "hlt\n\t"
      "1:"
      : "=a"(result)
      : "a"(static_cast<long>(SYS_clone)), "D"(kCloneFlags), "S"(stack_end), "d"(0l), "r"(r10),
        "r"(r8), "r"(r12), "r"(r13), [exit] "i"(SYS_exit)
      : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = kCloneFlags;
  register void* x1 __asm__("x1") = stack_end;
  register long x2 __asm__("x2") = 0;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = 0;
  register void (*x20)(Work*) __asm__("x20") = run;
  register Work* x21 __asm__("x21") = work;
  __asm__ volatile(
      "svc 0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"
      "mov x0, x21\n\t"
      "blr x20\n\t"
      "mov x8, %[exit]\n\t"
      "mov x0, xzr\n\t"
      "svc 0\n\t"
      "1:"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x20), "r"(x21), [exit] "i"(SYS_exit)
      : "memory", "x30");
  return x0;
#endif
}

// The kernel wakes us when the thread let go of its memory, a moment before it leaves the list of
// threads. Python counts that list after os.fork and would warn of a second thread.
void WaitUntilGone(long thread) {
  const long process = SysGetPid();
  for (int i = 0; i < 10000; i++) {
    if (SysCall(SYS_tgkill, process, thread, 0) != 0) return;
    SysCall(SYS_sched_yield);
  }
}

// The kernel's signal set; libc's sigset_t is larger.
uint64_t BlockSignals() {
  const uint64_t all = ~0ull;
  uint64_t before = 0;
  SysCall(SYS_rt_sigprocmask, SIG_BLOCK, Address(&all), Address(&before), sizeof all);
  return before;
}
void RestoreSignals(uint64_t mask) {
  SysCall(SYS_rt_sigprocmask, SIG_SETMASK, Address(&mask), 0, sizeof mask);
}

}  // namespace

void RunDetached(void (*work)(void* argument), void* argument) {
  const int saved_errno = errno;
  const uint64_t signals = BlockSignals();
  void* stack = SysMapPrivate(kStackBytes);
  Work task = {work, argument};
  long thread = -ENOMEM;
  rlscope_self.in_place = 0;
  if (stack != nullptr) {
    thread = CloneAndRun(static_cast<char*>(stack) + kStackBytes, &RunWork, &task);
    if (thread > 0) WaitUntilGone(thread);
    SysUnmap(stack, kStackBytes);
  }
  if (thread < 0) {
    rlscope_self.in_place = 1;
    work(argument);
    rlscope_self.in_place = 0;
  }
  RestoreSignals(signals);
  errno = saved_errno;
}

int OpenHidden(const char* path, int flags, int mode) {
  const int descriptor = SysOpen(path, flags | O_CLOEXEC, mode);
  if (descriptor < 0 || rlscope_self.in_place == 0) return descriptor;
  const long high = SysCall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (high < 0) return descriptor;  // RLIMIT_NOFILE below 1000
  SysClose(descriptor);
  return static_cast<int>(high);
}

}  // namespace rlscope::runtime
