// How NVML counts use: a window of time in which any kernel ran, however shortly, is a busy one,
// and the use is the share of busy windows in the sample period.
//
//   kernels      |#|       |#|                      |##|
//   windows   |  busy |  busy |       |       |  busy |       |   60 % busy
//
// NVIDIA says that the period is 1/6 s to 1 s, by product, and not how fine the counter looks
// inside it. Both are knobs: with a window as long as the period it says 0 or 100, with a
// short one the truth.
#ifndef SIMCUDA_NVML_BUSY_WINDOWS_H_
#define SIMCUDA_NVML_BUSY_WINDOWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace simcuda {

struct Use {
  uint64_t windows;       // of the period
  uint64_t busy_windows;  // in which a kernel ran
  uint64_t kernel_ns;     // the true time with a kernel, in all of them

  uint32_t percent() const {
    return windows == 0 ? 0 : static_cast<uint32_t>(busy_windows * 100 / windows);
  }
};

// Kernels of all processes, read from the truth file as it grows. Its owner locks.
class KernelLog {
 public:
  // Use in the windows of `window_ns` that ended in the `period_ns` before `now_ns`.
  Use UseOf(int gpu, uint64_t now_ns, uint64_t period_ns, uint64_t window_ns);

 private:
  void ReadOn();
  void Take(const char* line);
  void Forget(uint64_t before_ns);

  struct Kernel {
    int gpu;
    uint64_t start_ns;
    uint64_t end_ns;
  };
  std::vector<Kernel> kernels_;
  std::string rest_;  // of the file: the beginning of a line
  int file_ = -1;
};

}  // namespace simcuda

#endif  // SIMCUDA_NVML_BUSY_WINDOWS_H_
