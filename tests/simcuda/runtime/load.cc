// The way to the driver, and what each thread keeps: its device and its last error.
#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "runtime/call.h"

namespace simcuda {
namespace {

void* driver = nullptr;
std::atomic<Core*> core{nullptr};
thread_local int thread_device = 0;
thread_local int last_error = 0;

int LoadOnce() {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return kInsufficientDriver;
  auto get_core = reinterpret_cast<Core* (*)()>(dlsym(driver, "simcuda_core"));
  if (get_core == nullptr) return kInsufficientDriver;
  int version = 0;
  reinterpret_cast<decltype(::cuDriverGetVersion)*>(DriverEntry("cuDriverGetVersion"))(&version);
  if (version < SIMCUDA_MAJOR * 1000) return kInsufficientDriver;
  int status = reinterpret_cast<decltype(::cuInit)*>(DriverEntry("cuInit"))(0);
  core.store(get_core(), std::memory_order_release);
  return status;
}

}  // namespace

int LoadDriver() {
  static std::once_flag& once = *new std::once_flag;
  static int status = kSuccess;
  std::call_once(once, [] { status = LoadOnce(); });
  return status;
}

Core* LoadedCore() { return core.load(std::memory_order_acquire); }

void* DriverEntry(const char* name) { return dlsym(driver, name); }

int BindDevice() {
  if (LoadedCore()->forked()) return kNotInitialized;
  return LoadedCore()->context_id(nullptr) != 0 ? kSuccess : SetCurrentDevice(thread_device);
}

int CurrentDevice() { return thread_device; }

int SetCurrentDevice(int device) {
  void* context = nullptr;
  int status = DRIVER(cuDevicePrimaryCtxRetain)(&context, device);
  if (status == kSuccess) status = DRIVER(cuCtxSetCurrent)(context);
  if (status == kSuccess) thread_device = device;
  return status;
}

int Remember(int status) {
  if (status != kSuccess && status != kNotReady) last_error = status;
  return status;
}

int Unsupported(const char* name) {
  int loaded = LoadDriver();
  if (loaded != kSuccess) return Remember(loaded);
  return Traced(FindFunction(name), nullptr, [] { return kNotSupported; });
}

}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

namespace {

// For functions that work without a driver: traced only where there is one.
template <class Body>
auto TracedIfLoaded(const ApiFunction& function, Body body) -> decltype(body()) {
  Core* loaded = LoadedCore();
  if (loaded == nullptr) return body();
  ApiCall call{};
  call.function = &function;
  loaded->begin_call(&call);
  auto result = body();
  loaded->end_call(&call, kSuccess);
  return result;
}

}  // namespace

SIM_EXPORT int cudaGetLastError() {
  static const ApiFunction& function = FindFunction(__func__);
  return TracedIfLoaded(function, [] { return std::exchange(last_error, kSuccess); });
}

SIM_EXPORT int cudaPeekAtLastError() {
  static const ApiFunction& function = FindFunction(__func__);
  return TracedIfLoaded(function, [] { return last_error; });
}

SIM_EXPORT const char* cudaGetErrorName(int status) {
  static const ApiFunction& function = FindFunction(__func__);
  const char* name = TracedIfLoaded(function, [=] { return RuntimeStatusName(status); });
  return name == nullptr ? "unrecognized error code" : name;
}

SIM_EXPORT const char* cudaGetErrorString(int status) {
  static const ApiFunction& function = FindFunction(__func__);
  const char* text = TracedIfLoaded(function, [=] { return StatusText(status); });
  return text == nullptr ? "unrecognized error code" : text;
}

SIM_EXPORT int cudaRuntimeGetVersion(int* version) {
  static const ApiFunction& function = FindFunction(__func__);
  constexpr int kVersion = SIMCUDA_MAJOR == 12 ? 12090 : 13000;
  return TracedIfLoaded(function, [=]() -> int { return *version = kVersion, kSuccess; });
}

// 0 where there is no driver.
SIM_EXPORT int cudaDriverGetVersion(int* version) {
  LoadDriver();
  static const ApiFunction& function = FindFunction(__func__);
  *version = 0;
  return TracedIfLoaded(function, [=]() -> int {
    return DriverEntry("cuDriverGetVersion") == nullptr ? kSuccess
                                                        : DRIVER(cuDriverGetVersion)(version);
  });
}
