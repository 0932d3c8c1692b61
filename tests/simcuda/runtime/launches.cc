// Kernel launches, by CUDA 12's stubs (cudaLaunchKernel) and CUDA 13's (__cudaGetKernel,
// __cudaLaunchKernel).
#include <cstdlib>
#include <vector>

#include "core/cupti_versions.h"
#include "runtime/call.h"
#include "runtime/registration.h"

namespace simcuda {
namespace {

struct Dim3 {
  unsigned x, y, z;
};

// cudaLaunchConfig_t.
struct Config {
  Dim3 grid;
  Dim3 block;
  size_t shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(Config) == 56, "cudaLaunchConfig_t of driver_types.h");

thread_local std::vector<Config> pushed;  // by <<<>>>, for the stub to take

const char* NameOf(const void* handle) {
  const RegisteredKernel* kernel = FindRegistered(handle);
  return kernel == nullptr ? nullptr : kernel->name.c_str();
}

int Function(const void* handle, void** function) {
  RegisteredKernel* kernel = FindRegistered(handle);
  return kernel == nullptr ? static_cast<int>(kInvalidDeviceFunction)
                           : DriverFunction(kernel, function);
}

int Launch(const void* handle, const Config& config, void** arguments, void* stream) {
  void* function = nullptr;
  int status = Function(handle, &function);
  if (status != kSuccess) return status;
  status = DRIVER(cuLaunchKernel)(
      function, config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y,
      config.block.z, static_cast<unsigned>(config.shared_bytes), stream, arguments, nullptr);
  return status == kInvalidValue ? static_cast<int>(kInvalidConfiguration) : status;
}

int LaunchWithAttributes(const void* handle, const Config& config, void** arguments, void* stream) {
  void* function = nullptr;
  int status = Function(handle, &function);
  if (status != kSuccess) return status;
  LaunchConfig launch = {{config.grid.x, config.grid.y, config.grid.z},
                         {config.block.x, config.block.y, config.block.z},
                         static_cast<uint32_t>(config.shared_bytes),
                         stream,
                         config.attributes,
                         config.attribute_count};
  return DRIVER(cuLaunchKernelEx)(&launch, function, arguments, nullptr);
}

int LaunchCooperative(const void* handle, const Config& config, void** arguments, void* stream) {
  void* function = nullptr;
  int status = Function(handle, &function);
  if (status != kSuccess) return status;
  return DRIVER(cuLaunchCooperativeKernel)(
      function, config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y,
      config.block.z, static_cast<unsigned>(config.shared_bytes), stream, arguments);
}

// CUPTI before 13.0 has no number for __cudaLaunchKernel: it shows as cudaLaunchKernel's.
const ApiFunction* StubFunction(const char* name, const char* older) {
  const CuptiVersion& version = FindCuptiVersion(getenv("SIMCUPTI_VERSION"), "13.0");
  const ApiFunction& function = FindFunction(name);
  if (function.cbid <= version.runtime_cbid_max) return &function;
  return new ApiFunction{function.name, function.domain, FindFunction(older).cbid};
}

template <class Body>
int TracedLaunch(const ApiFunction& function, const void* kernel, Body body) {
  int loaded = LoadDriver();
  if (loaded != kSuccess) return Remember(loaded);
  return Traced(function, NameOf(kernel), [&] {
    int bound = BindDevice();
    return bound == kSuccess ? body() : bound;
  });
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes,
                                                void* stream) {
  SIM_CALL_ANYTIME({
    pushed.push_back({grid, block, shared_bytes, stream, nullptr, 0});
    return kSuccess;
  });
}

SIM_EXPORT int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes,
                                          void** stream) {
  SIM_CALL_ANYTIME({
    if (pushed.empty()) return kMissingConfiguration;
    Config config = pushed.back();
    pushed.pop_back();
    *grid = config.grid;
    *block = config.block;
    *shared_bytes = config.shared_bytes;
    *stream = config.stream;
    return kSuccess;
  });
}

SIM_EXPORT int __cudaGetKernel(void** kernel, const void* host) {
  SIM_CALL_ANYTIME({
    *kernel = FindRegistered(host);
    return *kernel == nullptr ? kInvalidDeviceFunction : kSuccess;
  });
}

SIM_EXPORT int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                  size_t shared_bytes, void* stream) {
  static const ApiFunction& function = *StubFunction(__func__, "cudaLaunchKernel");
  Config config = {grid, block, shared_bytes, stream, nullptr, 0};
  return TracedLaunch(function, kernel, [&] { return Launch(kernel, config, arguments, stream); });
}

SIM_EXPORT int __cudaLaunchKernel_ptsz(void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                       size_t shared_bytes, void* stream) {
  static const ApiFunction& function = *StubFunction(__func__, "cudaLaunchKernel_ptsz");
  Config config = {grid, block, shared_bytes, stream, nullptr, 0};
  void* meant = stream == nullptr ? kPerThreadHandle : stream;
  return TracedLaunch(function, kernel, [&] { return Launch(kernel, config, arguments, meant); });
}

SIM_EXPORT int cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                size_t shared_bytes, void* stream) {
  Config config = {grid, block, shared_bytes, stream, nullptr, 0};
  SIM_CALL_OF(NameOf(kernel), { return Launch(kernel, config, arguments, stream); });
}

SIM_EXPORT int cudaLaunchKernel_ptsz(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                     size_t shared_bytes, void* stream) {
  Config config = {grid, block, shared_bytes, stream, nullptr, 0};
  void* meant = stream == nullptr ? kPerThreadHandle : stream;
  SIM_CALL_OF(NameOf(kernel), { return Launch(kernel, config, arguments, meant); });
}

SIM_EXPORT int cudaLaunchKernelExC(const Config* config, const void* kernel, void** arguments) {
  SIM_CALL_OF(NameOf(kernel),
              { return LaunchWithAttributes(kernel, *config, arguments, config->stream); });
}

SIM_EXPORT int cudaLaunchKernelExC_ptsz(const Config* config, const void* kernel,
                                        void** arguments) {
  void* meant = config->stream == nullptr ? kPerThreadHandle : config->stream;
  SIM_CALL_OF(NameOf(kernel), { return LaunchWithAttributes(kernel, *config, arguments, meant); });
}

SIM_EXPORT int cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block,
                                           void** arguments, size_t shared_bytes, void* stream) {
  Config config = {grid, block, shared_bytes, stream, nullptr, 0};
  SIM_CALL_OF(NameOf(kernel), { return LaunchCooperative(kernel, config, arguments, stream); });
}

SIM_EXPORT int cudaLaunchCooperativeKernel_ptsz(const void* kernel, Dim3 grid, Dim3 block,
                                                void** arguments, size_t shared_bytes,
                                                void* stream) {
  Config config = {grid, block, shared_bytes, stream, nullptr, 0};
  void* meant = stream == nullptr ? kPerThreadHandle : stream;
  SIM_CALL_OF(NameOf(kernel), { return LaunchCooperative(kernel, config, arguments, meant); });
}

SIM_STREAM_CALL(cudaLaunchHostFunc, _ptsz, (void* stream, HostFunction function, void* data),
                { return DRIVER(cuLaunchHostFunc)(On(stream), function, data); })
