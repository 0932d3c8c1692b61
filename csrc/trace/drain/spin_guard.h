// Threads: any. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_SPIN_GUARD_H_
#define RLSCOPE_TRACE_DRAIN_SPIN_GUARD_H_

#include <sched.h>
#include <stdint.h>

namespace rlscope::trace {

// For the few instructions of a copy; pthread_mutex_t would need libpthread.
class SpinGuard {
 public:
  explicit SpinGuard(uint32_t* word) : word_(word) {
    while (__atomic_exchange_n(word_, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ~SpinGuard() { __atomic_store_n(word_, 0, __ATOMIC_RELEASE); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  uint32_t* word_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_SPIN_GUARD_H_
