// cuInit and what works before it.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "core/knobs.h"
#include "core/truth.h"
#include "driver/call.h"
#include "driver/variants.h"

namespace simcuda {
namespace {

std::atomic<bool> initialized{false};

// What the driver does for profilers: it loads the library that CUDA_INJECTION64_PATH names and
// calls it.
void Inject() {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize != nullptr) initialize();
}

void NotifyInitFinished() {
  auto notify = simcuda_core()->tools.resource.load(std::memory_order_acquire);
  if (notify != nullptr) notify(kInitFinished, nullptr, nullptr);
}

// Other threads wait until the injected library is done; its own calls of cuInit return at once.
int Initialize() {
  static std::recursive_mutex& lock = *new std::recursive_mutex;
  if (Forked()) return kNotInitialized;
  if (DeviceCount() == 0) return kNoDevice;
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (initialized) return kSuccess;
  MarkInitialized();
  initialized = true;
  Inject();
  NotifyInitFinished();
  return kSuccess;
}

void* OwnSymbol(const std::string& name) {
  static void* const self = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&cuInit), &info);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return dlsym(self, name.c_str());
}

constexpr uint64_t kPerThreadFlag = 2;

void* FindEntryPoint(const char* name, int version, uint64_t flags) {
  std::string variant = name;
  for (const Variant& row : kVariants) {
    if (strcmp(row.name, name) == 0) variant = version >= 13000 ? row.of_13 : row.of_12;
  }
  if ((flags & kPerThreadFlag) != 0) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (void* found = OwnSymbol(variant + suffix)) return found;
    }
  }
  return strncmp(name, "cu", 2) == 0 ? OwnSymbol(variant) : nullptr;
}

}  // namespace

int DriverReady() { return initialized && !Forked() ? kSuccess : kNotInitialized; }

}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuInit(unsigned) {
  SIM_CALL_ANYTIME({ return Initialize(); });
}

SIM_EXPORT int cuDriverGetVersion(int* version) {
  SIM_CALL_ANYTIME({
    *version = GetKnobs().driver_version;
    return kSuccess;
  });
}

SIM_EXPORT int cuGetErrorName(int status, const char** name) {
  SIM_CALL_ANYTIME({
    *name = DriverStatusName(status);
    return *name == nullptr ? kInvalidValue : kSuccess;
  });
}

SIM_EXPORT int cuGetErrorString(int status, const char** text) {
  SIM_CALL_ANYTIME({
    *text = StatusText(status);
    return *text == nullptr ? kInvalidValue : kSuccess;
  });
}

SIM_EXPORT int cuGetProcAddress_v2(const char* name, void** entry, int version, uint64_t flags,
                                   int* found) {
  SIM_CALL_ANYTIME({
    *entry = FindEntryPoint(name, version, flags);
    if (found != nullptr) *found = *entry == nullptr ? 1 : 0;
    return *entry == nullptr ? kNotFound : kSuccess;
  });
}

SIM_EXPORT int cuGetProcAddress(const char* name, void** entry, int version, uint64_t flags) {
  SIM_CALL_ANYTIME({
    *entry = FindEntryPoint(name, version, flags);
    return *entry == nullptr ? kNotFound : kSuccess;
  });
}

// Undocumented tables, through which the static cudart and the real CUPTI talk to the real driver.
SIM_EXPORT int cuGetExportTable(const void** table, const void*) {
  SIM_CALL_ANYTIME({
    *table = nullptr;
    return kNotFound;
  });
}
