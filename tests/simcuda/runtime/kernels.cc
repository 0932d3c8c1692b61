// What a program can ask about its kernels, and the way to the driver's functions.
#include <cstring>

#include "runtime/call.h"
#include "runtime/registration.h"

namespace simcuda {
namespace {

// cudaFuncAttributes.
struct Attributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int threads_per_block, registers, ptx_version, binary_version, cache_mode, dynamic_shared_limit;
  int carveout, cluster[5], reserved[17];
};
static_assert(sizeof(Attributes) == 144, "cudaFuncAttributes of driver_types.h");

int Describe(Attributes* attributes, const void* handle) {
  RegisteredKernel* kernel = FindRegistered(handle);
  if (kernel == nullptr) return kInvalidDeviceFunction;
  void* function = nullptr;
  int status = DriverFunction(kernel, &function);
  if (status != kSuccess) return status;
  *attributes = {};
  int shared_bytes = 0;
  DRIVER(cuFuncGetAttribute)(&attributes->threads_per_block, 0, function);
  DRIVER(cuFuncGetAttribute)(&shared_bytes, 1, function);
  DRIVER(cuFuncGetAttribute)(&attributes->registers, 4, function);
  DRIVER(cuFuncGetAttribute)(&attributes->ptx_version, 5, function);
  DRIVER(cuFuncGetAttribute)(&attributes->binary_version, 6, function);
  DRIVER(cuFuncGetAttribute)(&attributes->dynamic_shared_limit, 8, function);
  attributes->shared_bytes = static_cast<size_t>(shared_bytes);
  return kSuccess;
}

// Passes the driver's function of a kernel to `body`.
template <class Body>
int With(const void* handle, Body body) {
  RegisteredKernel* kernel = FindRegistered(handle);
  if (kernel == nullptr) return kInvalidDeviceFunction;
  void* function = nullptr;
  int status = DriverFunction(kernel, &function);
  return status == kSuccess ? body(function) : status;
}

int Occupancy(int* blocks, const void* handle, int block_size, size_t shared_bytes,
              unsigned flags) {
  return With(handle, [&](void* function) {
    return DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(
        blocks, function, block_size, shared_bytes, flags);
  });
}

int EntryPoint(const char* name, void** entry, int version, unsigned long long flags, int* found) {
  int status = DRIVER(cuGetProcAddress_v2)(name, entry, version, flags, found);
  // Not finding one is an answer, not an error, for a caller that asks for the answer.
  return status != kSuccess && found != nullptr ? static_cast<int>(kSuccess) : status;
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cudaFuncGetAttributes(Attributes* attributes, const void* kernel) {
  SIM_CALL({ return Describe(attributes, kernel); });
}

SIM_EXPORT int cudaFuncSetAttribute(const void* kernel, int attribute, int value) {
  SIM_CALL({
    return With(kernel, [&](void* function) {
      return DRIVER(cuFuncSetAttribute)(function, attribute, value);
    });
  });
}

SIM_EXPORT int cudaFuncSetCacheConfig(const void* kernel, int) {
  SIM_CALL({ return FindRegistered(kernel) == nullptr ? kInvalidDeviceFunction : kSuccess; });
}

SIM_EXPORT int cudaFuncSetSharedMemConfig(const void* kernel, int) {
  SIM_CALL({ return FindRegistered(kernel) == nullptr ? kInvalidDeviceFunction : kSuccess; });
}

SIM_EXPORT int cudaFuncGetName(const char** name, const void* kernel) {
  SIM_CALL({
    const RegisteredKernel* found = FindRegistered(kernel);
    if (found == nullptr) return kInvalidDeviceFunction;
    *name = found->name.c_str();
    return kSuccess;
  });
}

SIM_EXPORT int cudaGetFuncBySymbol(void** function, const void* kernel) {
  SIM_CALL({
    return With(kernel, [&](void* found) { return *function = found, static_cast<int>(kSuccess); });
  });
}

SIM_EXPORT int cudaGetKernel(void** handle, const void* kernel) {
  SIM_CALL({
    *handle = FindRegistered(kernel);
    return *handle == nullptr ? kInvalidDeviceFunction : kSuccess;
  });
}

SIM_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                             int block_size, size_t shared_bytes) {
  SIM_CALL({ return Occupancy(blocks, kernel, block_size, shared_bytes, 0); });
}

SIM_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int block_size, size_t shared_bytes, unsigned flags) {
  SIM_CALL({ return Occupancy(blocks, kernel, block_size, shared_bytes, flags); });
}

SIM_EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int,
                                                         int) {
  SIM_CALL({
    *bytes = 48 << 10;
    return FindRegistered(kernel) == nullptr ? kInvalidDeviceFunction : kSuccess;
  });
}

SIM_STREAM_CALL(cudaGetDriverEntryPoint, _ptsz,
                (const char* name, void** entry, unsigned long long flags, int* found), {
                  bool own = On(nullptr) != nullptr &&
                             flags == 0;  // no choice made: as the program was compiled
                  return EntryPoint(name, entry, SIMCUDA_MAJOR * 1000, own ? 2 : flags, found);
                })

SIM_STREAM_CALL(cudaGetDriverEntryPointByVersion, _ptsz,
                (const char* name, void** entry, unsigned version, unsigned long long flags,
                 int* found),
                {
                  bool own = On(nullptr) != nullptr && flags == 0;
                  return EntryPoint(name, entry, static_cast<int>(version), own ? 2 : flags, found);
                })

SIM_EXPORT int cudaGetExportTable(const void** table, const void*) {
  SIM_CALL_ANYTIME({
    *table = nullptr;
    return kNotSupported;
  });
}
