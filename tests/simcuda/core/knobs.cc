#include "core/knobs.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simcuda {
namespace {

std::string Text(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

double Number(const char* name, double fallback) {
  std::string value = Text(name);
  if (value.empty()) return fallback;
  char* end = nullptr;
  double number = strtod(value.c_str(), &end);
  if (*end != '\0') RefuseKnob(name, value, "a number");
  return number;
}

int64_t Duration(const char* name, int64_t fallback_ns) {
  std::string value = Text(name);
  int64_t duration_ns = fallback_ns;
  if (!value.empty() && !ParseDuration(value, &duration_ns)) {
    RefuseKnob(name, value, "a duration like 250ns, 5us or 2.5ms");
  }
  return duration_ns;
}

uint64_t PositiveDuration(const char* name, uint64_t fallback_ns) {
  const int64_t duration_ns = Duration(name, static_cast<int64_t>(fallback_ns));
  if (duration_ns <= 0) RefuseKnob(name, Text(name), "more than 0");
  return static_cast<uint64_t>(duration_ns);
}

Knobs ReadKnobs() {
  Knobs knobs;
  knobs.truth_path = Text("SIMCUDA_TRUTH");
  knobs.durations_path = Text("SIMCUDA_DURATIONS");
  knobs.kernel_ns = static_cast<uint64_t>(Duration("SIMCUDA_KERNEL_DURATION", 5'000));
  knobs.launch_latency_ns = static_cast<uint64_t>(Duration("SIMCUDA_LAUNCH_LATENCY", 2'500));
  knobs.device_count = static_cast<int>(Number("SIMCUDA_DEVICES", 1));
  knobs.driver_version = static_cast<int>(Number("SIMCUDA_DRIVER_VERSION", 13000));
  knobs.gpu_drift_ppm = Number("SIMCUDA_GPU_DRIFT_PPM", 0);
  knobs.gpu_skew_ns = Duration("SIMCUDA_GPU_SKEW", 0);
  knobs.nvml_period_ns = PositiveDuration("SIMCUDA_NVML_PERIOD", knobs.nvml_period_ns);
  knobs.nvml_window_ns = PositiveDuration("SIMCUDA_NVML_WINDOW", knobs.nvml_window_ns);
  knobs.untraced_graphs_crash = Number("SIMCUPTI_UNTRACED_GRAPHS_CRASH", 1) != 0;
  knobs.nested_callbacks = Number("SIMCUPTI_NESTED_CALLBACKS", 1) != 0;
  return knobs;
}

}  // namespace

const Knobs& GetKnobs() {
  static const Knobs& knobs =
      *new Knobs(ReadKnobs());  // never destroyed: used while the process exits
  return knobs;
}

bool ParseDuration(const std::string& text, int64_t* duration_ns) {
  struct Unit {
    const char* name;
    double ns;
  };
  constexpr Unit kUnits[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  char* end = nullptr;
  double number = strtod(text.c_str(), &end);
  if (end == text.c_str()) return false;
  for (const Unit& unit : kUnits) {
    if (strcmp(end, unit.name) != 0) continue;
    *duration_ns = static_cast<int64_t>(number * unit.ns);
    return true;
  }
  return false;
}

void RefuseKnob(const char* name, const std::string& value, const char* expected) {
  fprintf(stderr, "simcuda: %s=%s: expected %s\n", name, value.c_str(), expected);
  _Exit(1);
}

}  // namespace simcuda
