#include "core/clock.h"

#include <sched.h>
#include <time.h>

#include "core/knobs.h"

namespace simcuda {
namespace {

// The kernel may wake a sleeper this late; the rest of a wait is spent polling, so that a
// synchronisation ends within a microsecond of the work it waited for.
constexpr uint64_t kWakeupSlackNs = 60'000;

void SleepUntil(uint64_t deadline_ns) {
  timespec deadline = {static_cast<time_t>(deadline_ns / 1'000'000'000),
                       static_cast<long>(deadline_ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
}

}  // namespace

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void WaitUntil(uint64_t deadline_ns) {
  uint64_t now = NowNs();
  while (now + kWakeupSlackNs < deadline_ns) {
    SleepUntil(deadline_ns - kWakeupSlackNs);
    now = NowNs();
  }
  while (NowNs() < deadline_ns) __builtin_ia32_pause();
}

uint64_t DeviceClockNs(uint64_t now_ns) {
  const Knobs& knobs = GetKnobs();
  // Drift counts from the first use: over all of the machine's uptime it would be a second skew.
  static const uint64_t origin_ns = now_ns;
  double since_ns = static_cast<double>(static_cast<int64_t>(now_ns - origin_ns));
  return now_ns + static_cast<uint64_t>(knobs.gpu_skew_ns) +
         static_cast<uint64_t>(static_cast<int64_t>(since_ns * knobs.gpu_drift_ppm * 1e-6));
}

}  // namespace simcuda
