// Registrations by the compiler's start-up code: kernels and device variables by the host's
// addresses.
#ifndef SIMCUDA_RUNTIME_REGISTRATION_H_
#define SIMCUDA_RUNTIME_REGISTRATION_H_

#include <cstddef>
#include <string>

namespace simcuda {

struct RegisteredKernel {
  const void* host;
  std::string name;
  void* function = nullptr;  // the driver's, from the first launch on
};

struct RegisteredVariable {
  std::string name;
  size_t bytes;
  void* device = nullptr;  // from the first use on
};

// By the host's function or by a cudaKernel_t; null: neither.
RegisteredKernel* FindRegistered(const void* handle);

// The driver's function of the kernel, loaded on first use as CUDA does. Returns a status.
int DriverFunction(RegisteredKernel* kernel, void** function);

// Null: never registered.
RegisteredVariable* FindVariable(const void* host);
// The variable's device memory, allocated on first use. Returns a status.
int DeviceAddress(const void* host, void** address);

}  // namespace simcuda

#endif  // SIMCUDA_RUNTIME_REGISTRATION_H_
