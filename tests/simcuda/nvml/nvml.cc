// The functions of NVML that tools read GPUs with, under NVML's names; the declarations are the
// test double's own. Devices are numbers in pointers.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "core/clock.h"
#include "core/knobs.h"
#include "core/machine_devices.h"
#include "core/truth.h"
#include "nvml/busy_windows.h"

namespace simcuda {
namespace {

enum Status { kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3 };

struct Rates {
  uint32_t gpu;
  uint32_t memory;
};

struct Memory {
  uint64_t total;
  uint64_t free;
  uint64_t used;
};

struct Pci {
  char short_id[16];
  uint32_t domain;
  uint32_t bus;
  uint32_t device;
  uint32_t device_id;
  uint32_t subsystem_id;
  char id[32];
};
static_assert(sizeof(Pci) == 68, "nvmlPciInfo_t");

// What an H200 says that does nothing; what processes allocate is not known here.
constexpr uint64_t kTotalBytes = uint64_t{141} << 30;
constexpr uint64_t kUsedBytes = uint64_t{600} << 20;
constexpr uint32_t kIdleMilliwatts = 75'000;
constexpr uint32_t kMostMilliwatts = 700'000;

std::mutex& lock = *new std::mutex;
KernelLog& kernels = *new KernelLog;
int users = 0;  // calls of nvmlInit without their nvmlShutdown

void* HandleOf(int gpu) { return reinterpret_cast<void*>(static_cast<intptr_t>(gpu) + 1); }
int NumberOf(void* handle) { return static_cast<int>(reinterpret_cast<intptr_t>(handle)) - 1; }

Status Check(void* handle) {
  if (users == 0) return kUninitialized;
  const int gpu = NumberOf(handle);
  return gpu >= 0 && gpu < GetKnobs().device_count ? kSuccess : kInvalidArgument;
}

Status Copy(const std::string& text, char* to, unsigned size) {
  snprintf(to, size, "%s", text.c_str());
  return kSuccess;
}

Use UseNow(int gpu, uint64_t now_ns) {
  const Knobs& knobs = GetKnobs();
  return kernels.UseOf(gpu, now_ns, knobs.nvml_period_ns, knobs.nvml_window_ns);
}

void WriteAnswer(int gpu, uint64_t now_ns, const Use& use) {
  char line[256];
  const int size = snprintf(line, sizeof line,
                            "{\"type\":\"nvml\",\"gpu\":%d,\"now_ns\":%llu,\"percent\":%u,"
                            "\"windows\":%llu,\"busy_windows\":%llu,\"kernel_ns\":%llu}\n",
                            gpu, static_cast<unsigned long long>(now_ns), use.percent(),
                            static_cast<unsigned long long>(use.windows),
                            static_cast<unsigned long long>(use.busy_windows),
                            static_cast<unsigned long long>(use.kernel_ns));
  WriteTruth(line, static_cast<size_t>(size));
}

Status Initialize() {
  std::lock_guard<std::mutex> guard(lock);
  OpenTruth();
  ++users;
  return kSuccess;
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

#define SIM_NVML extern "C" __attribute__((visibility("default"))) int

// The rest of a function about a device, under the lock.
#define SIM_DEVICE(handle, ...)                      \
  std::lock_guard<std::mutex> guard(lock);           \
  const Status status = Check(handle);               \
  if (status != kSuccess) return status;             \
  [[maybe_unused]] const int gpu = NumberOf(handle); \
  __VA_ARGS__                                        \
  return kSuccess

SIM_NVML nvmlInit_v2() { return Initialize(); }
SIM_NVML nvmlInitWithFlags(unsigned) { return Initialize(); }

SIM_NVML nvmlShutdown() {
  std::lock_guard<std::mutex> guard(lock);
  if (users == 0) return kUninitialized;
  --users;
  return kSuccess;
}

SIM_NVML nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return Copy("580.00", text, size);
}

SIM_NVML nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(GetKnobs().device_count);
  return kSuccess;
}

SIM_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = HandleOf(static_cast<int>(index));
  std::lock_guard<std::mutex> guard(lock);
  return Check(*handle);
}

SIM_NVML nvmlDeviceGetIndex(void* handle, unsigned* index) {
  SIM_DEVICE(handle, *index = static_cast<unsigned>(gpu););
}

SIM_NVML nvmlDeviceGetName(void* handle, char* text, unsigned size) {
  SIM_DEVICE(handle, Copy("Simulated H200", text, size););
}

SIM_NVML nvmlDeviceGetUUID(void* handle, char* text, unsigned size) {
  SIM_DEVICE(handle, Copy(UuidText(gpu), text, size););
}

SIM_NVML nvmlDeviceGetPciInfo_v3(void* handle, Pci* pci) {
  SIM_DEVICE(handle, {
    *pci = {};
    pci->bus = static_cast<uint32_t>(gpu + 1);
    snprintf(pci->short_id, sizeof pci->short_id, "0000:%02x:00.0", pci->bus);
    snprintf(pci->id, sizeof pci->id, "00000000:%02x:00.0", pci->bus);
  });
}

// Memory is not looked at: that of the host stands in for it.
SIM_NVML nvmlDeviceGetUtilizationRates(void* handle, Rates* rates) {
  SIM_DEVICE(handle, {
    const uint64_t now_ns = NowNs();
    const Use use = UseNow(gpu, now_ns);
    *rates = {use.percent(), 0};
    WriteAnswer(gpu, now_ns, use);
  });
}

SIM_NVML nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  SIM_DEVICE(handle, { *memory = {kTotalBytes, kTotalBytes - kUsedBytes, kUsedBytes}; });
}

// In proportion to the time in which kernels truly ran.
SIM_NVML nvmlDeviceGetPowerUsage(void* handle, unsigned* milliwatts) {
  SIM_DEVICE(handle, {
    const Use use = UseNow(gpu, NowNs());
    const double share = static_cast<double>(use.kernel_ns) /
                         static_cast<double>(use.windows * GetKnobs().nvml_window_ns);
    *milliwatts =
        kIdleMilliwatts + static_cast<uint32_t>(share * (kMostMilliwatts - kIdleMilliwatts));
  });
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int status) {
  static const char* const kTexts[] = {"Success", "Uninitialized", "Invalid Argument",
                                       "Not Supported"};
  return status >= 0 && status <= kNotSupported ? kTexts[status] : "Unknown Error";
}
