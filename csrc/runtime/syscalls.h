// System calls without libc: they set no errno, are no cancellation points, need no thread-local
// storage and cannot be interposed, so they may run in the short-lived thread of detached.h and in
// a fork child. Each returns the kernel's value: negative is -errno.
#ifndef RLSCOPE_RUNTIME_SYSCALLS_H_
#define RLSCOPE_RUNTIME_SYSCALLS_H_

#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

namespace rlscope::runtime {

inline long SysCall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                    long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#else
#error "rlscope runs on x86-64 and aarch64 Linux"
#endif
}

inline long Address(const void* pointer) { return reinterpret_cast<long>(pointer); }

inline int SysOpen(const char* path, int flags, int mode = 0) {
  return static_cast<int>(SysCall(SYS_openat, AT_FDCWD, Address(path), flags, mode));
}
inline long SysRead(int descriptor, void* data, uint64_t size) {
  return SysCall(SYS_read, descriptor, Address(data), static_cast<long>(size));
}
inline long SysWrite(int descriptor, const void* data, uint64_t size) {
  return SysCall(SYS_write, descriptor, Address(data), static_cast<long>(size));
}
inline void SysClose(int descriptor) { SysCall(SYS_close, descriptor); }
inline uint32_t SysGetPid() { return static_cast<uint32_t>(SysCall(SYS_getpid)); }
inline uint32_t SysGetTid() { return static_cast<uint32_t>(SysCall(SYS_gettid)); }

// Null when refused.
inline void* SysMap(uint64_t size, int protection, int flags, int descriptor) {
  const long result = SysCall(SYS_mmap, 0, static_cast<long>(size), protection, flags, descriptor);
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<void*>(result);
}
inline void* SysMapPrivate(uint64_t size) {
  return SysMap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}
inline void SysUnmap(void* address, uint64_t size) {
  SysCall(SYS_munmap, Address(address), static_cast<long>(size));
}

// Sleeps while *word == expected, at most timeout_ns. Also returns early.
inline void SysFutexWait(uint32_t* word, uint32_t expected, int64_t timeout_ns, bool shared) {
  const struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  SysCall(SYS_futex, Address(word), shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
          Address(&timeout));
}
inline void SysFutexWake(uint32_t* word, int count, bool shared) {
  SysCall(SYS_futex, Address(word), shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, count);
}

inline void SysSleep(int64_t ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  SysCall(SYS_nanosleep, Address(&time), 0);
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_SYSCALLS_H_
