#include "cupti/timestamps.h"

#include <time.h>

#include <atomic>

#include "cupti/settings.h"
#include "cupti/status.h"

namespace simcuda {
namespace {

std::atomic<TimestampFunction> cpu_function{nullptr};     // for times read on the CPU
std::atomic<TimestampFunction> device_function{nullptr};  // what device times are converted to

uint64_t RealtimeNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t Read(const std::atomic<TimestampFunction>& function) {
  TimestampFunction chosen = function.load(std::memory_order_acquire);
  return chosen == nullptr ? RealtimeNs() : chosen();
}

// A line through two points closer than this would turn the reading error of each into a wrong
// slope.
constexpr uint64_t kShortestLine = 10'000'000;

// Converts one clock to another by two moments at which both were read.
class Line {
 public:
  void Add(uint64_t from, uint64_t to) {
    if (!begun_) first_ = {from, to};
    begun_ = true;
    last_ = {from, to};
  }

  // From the later point: there, a short line's unit slope costs the least.
  uint64_t Convert(uint64_t from) const {
    double slope = 1;
    if (last_.from - first_.from >= kShortestLine) {
      slope =
          static_cast<double>(last_.to - first_.to) / static_cast<double>(last_.from - first_.from);
    }
    auto distance = static_cast<double>(static_cast<int64_t>(from - last_.from));
    return last_.to + static_cast<uint64_t>(static_cast<int64_t>(distance * slope));
  }

 private:
  struct Point {
    uint64_t from;
    uint64_t to;
  };
  Point first_{};
  Point last_{};
  bool begun_ = false;
};

struct Lines {
  Line device;  // the GPU's clock to the records'
  Line host;    // CLOCK_MONOTONIC to the records'
};

Lines lines;

struct Reading {
  uint64_t monotonic_ns;
  uint64_t client;
};

// The tightest of a few: the client's clock is read between two readings of ours.
Reading ReadClocks(const std::atomic<TimestampFunction>& function) {
  const Core* core = FindCore();
  Reading best{};
  uint64_t best_ns = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    uint64_t before_ns = core->now_ns();
    uint64_t client = Read(function);
    uint64_t span_ns = core->now_ns() - before_ns;
    if (span_ns >= best_ns) continue;
    best_ns = span_ns;
    best = {before_ns + span_ns / 2, client};
  }
  return best;
}

}  // namespace

int SetTimestampFunction(TimestampFunction function) {
  if (function == nullptr) return kCuptiInvalidParameter;
  TimestampCallback mode = GetSettings().timestamp_callback;
  if (mode == TimestampCallback::kRefuse) return kCuptiNotCompatible;
  cpu_function.store(function, std::memory_order_release);
  if (mode == TimestampCallback::kAccept)
    device_function.store(function, std::memory_order_release);
  lines = Lines{};
  return kCuptiSuccess;
}

uint64_t CpuTimestamp() { return Read(cpu_function); }

void SampleClocks() {
  Reading device = ReadClocks(device_function);
  lines.device.Add(FindCore()->device_clock_ns(device.monotonic_ns), device.client);
  Reading host = ReadClocks(cpu_function);
  lines.host.Add(host.monotonic_ns, host.client);
}

uint64_t DeviceTimestamp(uint64_t monotonic_ns) {
  uint64_t device = FindCore()->device_clock_ns(monotonic_ns);
  return GetSettings().raw_timestamps ? device : lines.device.Convert(device);
}

uint64_t HostTimestamp(uint64_t monotonic_ns) { return lines.host.Convert(monotonic_ns); }

}  // namespace simcuda
