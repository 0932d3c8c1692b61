#include "runtime/registration.h"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/call.h"

namespace simcuda {
namespace {

struct ManagedVariable {
  void** host;
  size_t bytes;
};

struct Registrations {
  std::recursive_mutex lock;
  std::unordered_map<const void*, RegisteredKernel*>
      kernels;  // by host function and by their own address
  std::unordered_map<const void*, RegisteredVariable> variables;
  std::vector<ManagedVariable> managed;  // not allocated yet
  void* library = nullptr;
};

Registrations& All() {
  static Registrations& registrations =
      *new Registrations;  // start-up code of any library may come first
  return registrations;
}

int AllocateManaged() {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  for (const ManagedVariable& variable : all.managed) {
    DevicePointer block = 0;
    int status = DRIVER(cuMemAllocManaged)(&block, variable.bytes, 1);
    if (status != kSuccess) return status;
    *variable.host = reinterpret_cast<void*>(block);
  }
  all.managed.clear();
  return kSuccess;
}

}  // namespace

RegisteredKernel* FindRegistered(const void* handle) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  auto found = all.kernels.find(handle);
  return found == all.kernels.end() ? nullptr : found->second;
}

int DriverFunction(RegisteredKernel* kernel, void** function) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  int status = kSuccess;
  if (all.library == nullptr) {
    status =
        DRIVER(cuLibraryLoadData)(&all.library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
  if (kernel->function == nullptr && status == kSuccess) {
    void* loaded = nullptr;
    status = DRIVER(cuLibraryGetKernel)(&loaded, all.library, kernel->name.c_str());
    if (status == kSuccess) status = DRIVER(cuKernelGetFunction)(&kernel->function, loaded);
  }
  *function = kernel->function;
  return status;
}

RegisteredVariable* FindVariable(const void* host) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  auto found = all.variables.find(host);
  return found == all.variables.end() ? nullptr : &found->second;
}

int DeviceAddress(const void* host, void** address) {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  RegisteredVariable* variable = FindVariable(host);
  if (variable == nullptr) return kInvalidSymbol;
  if (variable->device == nullptr) {
    DevicePointer block = 0;
    int status = DRIVER(cuMemAlloc_v2)(&block, variable->bytes);
    if (status != kSuccess) return status;
    variable->device = reinterpret_cast<void*>(block);
  }
  *address = variable->device;
  return kSuccess;
}

}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

// Start-up code runs before main: these only take notes, and neither load the driver nor appear in
// the truth.

SIM_EXPORT void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}

SIM_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

SIM_EXPORT void __cudaUnregisterFatBinary(void**) {}

SIM_EXPORT void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int,
                                       void*, void*, void*, void*, int*) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  auto* kernel = new RegisteredKernel{host, name};
  all.kernels[host] = kernel;
  all.kernels[kernel] = kernel;
}

SIM_EXPORT void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t bytes,
                                  int, int) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  all.variables[host] = {name, bytes};
}

SIM_EXPORT void __cudaRegisterHostVar(void**, const char* name, char* host, size_t bytes) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  all.variables[host] = {name, bytes};
}

SIM_EXPORT void __cudaRegisterManagedVar(void**, void** host, char*, const char*, int, size_t bytes,
                                         int, int) {
  Registrations& all = All();
  std::lock_guard<std::recursive_mutex> guard(all.lock);
  all.managed.push_back({host, bytes});
}

// Start-up code of a file with managed variables calls it before it touches one.
SIM_EXPORT char __cudaInitModule(void**) {
  auto initialize = [] {
    static const ApiFunction& function = FindFunction("__cudaInitModule");
    if (LoadDriver() != kSuccess) return kNotInitialized;
    return static_cast<Status>(Traced(function, nullptr, [] {
      int bound = BindDevice();
      return bound == kSuccess ? AllocateManaged() : bound;
    }));
  };
  return initialize() == kSuccess;
}
