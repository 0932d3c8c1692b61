#include "core/machine_devices.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "core/knobs.h"

namespace simcuda {
namespace {

constexpr char kUuidStart[] = "GPU-";

// -1: the entry names none.
int FindDevice(const std::string& entry, int gpus) {
  if (entry.compare(0, sizeof kUuidStart - 1, kUuidStart) == 0) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (UuidText(gpu).compare(0, entry.size(), entry) == 0) return gpu;
    }
    return -1;
  }
  char* end = nullptr;
  const long number = strtol(entry.c_str(), &end, 10);
  const bool is_number = !entry.empty() && *end == '\0';
  return is_number && number >= 0 && number < gpus ? static_cast<int>(number) : -1;
}

}  // namespace

std::string UuidText(int gpu) {
  char text[64];
  snprintf(text, sizeof text, "%s51515151-5151-5151-5151-5151515151%02x", kUuidStart,
           static_cast<unsigned>(gpu));
  return text;
}

std::vector<int> FindVisible(const char* visible, int gpus) {
  std::vector<int> found;
  if (visible == nullptr) {
    for (int gpu = 0; gpu < gpus; ++gpu) found.push_back(gpu);
    return found;
  }
  std::istringstream entries(visible);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const int gpu = FindDevice(entry, gpus);
    if (gpu < 0) break;
    found.push_back(gpu);
  }
  return found;
}

const std::vector<int>& VisibleDevices() {
  static const std::vector<int>& devices =
      *new std::vector<int>(FindVisible(getenv("CUDA_VISIBLE_DEVICES"), GetKnobs().device_count));
  return devices;
}

}  // namespace simcuda
