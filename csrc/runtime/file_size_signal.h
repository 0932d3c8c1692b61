// A file that may not grow (RLIMIT_FSIZE, ulimit -f) answers a write with EFBIG, and with SIGXFSZ,
// which ends a program that does not expect it.
#ifndef RLSCOPE_RUNTIME_FILE_SIZE_SIGNAL_H_
#define RLSCOPE_RUNTIME_FILE_SIZE_SIGNAL_H_

#include <signal.h>
#include <stdint.h>

#include "runtime/syscalls.h"

namespace rlscope::runtime {

// Keeps the signal from the calling thread while it lives.
class FileSizeSignalGuard {
 public:
  FileSizeSignalGuard() {
    SysCall(SYS_rt_sigprocmask, SIG_BLOCK, Address(&kSignal), Address(&before_), sizeof before_);
  }
  ~FileSizeSignalGuard() {
    SysCall(SYS_rt_sigprocmask, SIG_SETMASK, Address(&before_), 0, sizeof before_);
  }
  FileSizeSignalGuard(const FileSizeSignalGuard&) = delete;
  FileSizeSignalGuard& operator=(const FileSizeSignalGuard&) = delete;

  // Takes the signal of a write that was refused with EFBIG: it would be delivered later.
  void TakeSignal() const {
    const struct timespec now = {0, 0};
    SysCall(SYS_rt_sigtimedwait, Address(&kSignal), 0, Address(&now), sizeof kSignal);
  }

 private:
  // The kernel's set of signals; libc's sigset_t is larger.
  static constexpr uint64_t kSignal = 1ull << (SIGXFSZ - 1);
  uint64_t before_ = 0;
};

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_FILE_SIZE_SIGNAL_H_
