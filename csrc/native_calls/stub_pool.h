// 32,768 static stubs of 16 bytes, in the text of the library: no code is made at run time, so
// hardened kernels have nothing to refuse.
//
//   x86-64   endbr64; mov $index, %r9d; jmp rlscope_call      aarch64   bti c; mov w5, #index; b
//
// A stub adds its index as the sixth integer argument, which no callee of CPython uses, and jumps
// on: arguments, stack and return address are the caller's own.
#ifndef RLSCOPE_NATIVE_CALLS_STUB_POOL_H_
#define RLSCOPE_NATIVE_CALLS_STUB_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include "native_calls/stub_count.h"

namespace rlscope::native_calls {

constexpr uint32_t kStubs = RLSCOPE_STUBS;
// The first stubs (and entries, four to a cache line) are kept for the functions that turn out hot,
// and for shared stubs. A training loop has about a hundred hot ones: 94 in PPO CartPole.
constexpr uint32_t kHotStubs = 1024;
constexpr size_t kStubBytes = 16;

extern "C" __attribute__((visibility("hidden"))) const char rlscope_stubs[];

inline void* StubAt(uint32_t index) {
  return const_cast<char*>(rlscope_stubs) + index * kStubBytes;
}

inline bool IsStub(const void* pointer) {
  const auto offset =
      reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(rlscope_stubs);
  return offset < kStubs * kStubBytes;
}

// Only of a stub.
inline uint32_t IndexOf(const void* stub) {
  return static_cast<uint32_t>((static_cast<const char*>(stub) - rlscope_stubs) / kStubBytes);
}

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_STUB_POOL_H_
