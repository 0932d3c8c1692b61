// A mutex in one word, over a private futex: no libpthread, nothing to destroy, and a fork child
// may simply set it to zero.
#ifndef RLSCOPE_RUNTIME_LOCK_H_
#define RLSCOPE_RUNTIME_LOCK_H_

#include <stdint.h>

#include "runtime/syscalls.h"

namespace rlscope::runtime {

class Lock {
 public:
  void Acquire() {
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&word_, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      return;
    }
    // 2 = held with waiters; the second is a bound on a wake-up lost to a dying thread.
    while (__atomic_exchange_n(&word_, 2, __ATOMIC_ACQUIRE) != 0) {
      SysFutexWait(&word_, 2, 1000000000, /*shared=*/false);
    }
  }

  // For exit and fork, which may interrupt the holder on its own thread (a signal handler that
  // calls _exit): false after `tries` milliseconds.
  bool TryAcquire(int tries) {
    for (;;) {
      uint32_t seen = 0;
      if (__atomic_compare_exchange_n(&word_, &seen, 1, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
        return true;
      }
      if (tries-- == 0) return false;
      SysSleep(1000000);
    }
  }

  void Release() {
    if (__atomic_exchange_n(&word_, 0, __ATOMIC_RELEASE) == 2) {
      SysFutexWake(&word_, 1, /*shared=*/false);
    }
  }

  // Fork child only: the holder does not exist here.
  void Reset() { word_ = 0; }

 private:
  uint32_t word_ = 0;
};

class LockGuard {
 public:
  explicit LockGuard(Lock* lock) : lock_(lock) { lock_->Acquire(); }
  ~LockGuard() { lock_->Release(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock* lock_;
};

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_LOCK_H_
