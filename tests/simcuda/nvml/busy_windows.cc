#include "nvml/busy_windows.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/knobs.h"

namespace simcuda {
namespace {

constexpr char kKernel[] = "{\"type\":\"operation\",\"kind\":\"kernel\"";

uint64_t Field(const char* line, const char* key) {
  const char* found = strstr(line, key);
  return found == nullptr ? 0 : strtoull(found + strlen(key), nullptr, 10);
}

}  // namespace

Use KernelLog::UseOf(int gpu, uint64_t now_ns, uint64_t period_ns, uint64_t window_ns) {
  ReadOn();
  const uint64_t windows = std::max<uint64_t>(1, period_ns / window_ns);
  const uint64_t end_ns = now_ns / window_ns * window_ns;
  const uint64_t start_ns = end_ns - windows * window_ns;
  Forget(start_ns);
  std::vector<bool> busy(windows);
  Use use = {windows, 0, 0};
  uint64_t covered_until_ns = start_ns;
  std::sort(kernels_.begin(), kernels_.end(),
            [](const Kernel& one, const Kernel& other) { return one.start_ns < other.start_ns; });
  for (const Kernel& kernel : kernels_) {
    const uint64_t from_ns = std::max(kernel.start_ns, covered_until_ns);
    const uint64_t until_ns = std::min(kernel.end_ns, end_ns);
    if (kernel.gpu != gpu || from_ns >= until_ns) continue;
    use.kernel_ns += until_ns - from_ns;
    covered_until_ns = until_ns;
    for (uint64_t i = (from_ns - start_ns) / window_ns; i * window_ns < until_ns - start_ns; ++i) {
      busy[i] = true;
    }
  }
  use.busy_windows = static_cast<uint64_t>(std::count(busy.begin(), busy.end(), true));
  return use;
}

void KernelLog::ReadOn() {
  const std::string& path = GetKnobs().truth_path;
  if (file_ < 0 && !path.empty()) file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char bytes[1 << 16];
  for (ssize_t size; file_ >= 0 && (size = read(file_, bytes, sizeof bytes)) > 0;) {
    rest_.append(bytes, static_cast<size_t>(size));
  }
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    rest_[end] = '\0';
    Take(&rest_[begin]);
  }
  rest_.erase(0, begin);
}

void KernelLog::Take(const char* line) {
  if (strncmp(line, kKernel, sizeof kKernel - 1) != 0) return;
  kernels_.push_back({static_cast<int>(Field(line, "\"gpu\":")), Field(line, "\"start_ns\":"),
                      Field(line, "\"end_ns\":")});
}

void KernelLog::Forget(uint64_t before_ns) {
  auto is_over = [&](const Kernel& kernel) { return kernel.end_ns <= before_ns; };
  kernels_.erase(std::remove_if(kernels_.begin(), kernels_.end(), is_over), kernels_.end());
}

}  // namespace simcuda
