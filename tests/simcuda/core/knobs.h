// The SIMCUDA_* environment variables, read once; README.md documents each.
#ifndef SIMCUDA_CORE_KNOBS_H_
#define SIMCUDA_CORE_KNOBS_H_

#include <cstdint>
#include <string>

namespace simcuda {

struct Knobs {
  std::string truth_path;
  std::string durations_path;
  uint64_t kernel_ns = 5'000;
  uint64_t launch_latency_ns = 2'500;
  int device_count = 1;
  int driver_version = 13000;
  double gpu_drift_ppm = 0;
  int64_t gpu_skew_ns = 0;
  uint64_t nvml_period_ns = 1'000'000'000;
  uint64_t nvml_window_ns = 166'666'666;
  bool untraced_graphs_crash = true;
  bool nested_callbacks = true;
};

const Knobs& GetKnobs();

// "250ns", "5us", "2.5ms" or "1s" in nanoseconds; a bare number is nanoseconds. False: not a
// duration.
bool ParseDuration(const std::string& text, int64_t* duration_ns);

// Ends the process with one line on stderr: a misspelt knob must not pass for a test that ran.
[[noreturn]] void RefuseKnob(const char* name, const std::string& value, const char* expected);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_KNOBS_H_
