// Allocation, pinning and pools.
#include "runtime/call.h"

namespace simcuda {
namespace {

// cudaPointerAttributes.
struct PointerAttributes {
  int type;  // 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88, "cudaPointerAttributes of driver_types.h");

constexpr int kMemoryType = 2;  // CUpointer_attribute
constexpr int kIsManaged = 8;
constexpr int kOrdinal = 9;

int Describe(PointerAttributes* attributes, const void* pointer) {
  auto address = reinterpret_cast<DevicePointer>(pointer);
  *attributes = {0, -1, nullptr, const_cast<void*>(pointer), {}};
  uint32_t type = 0;
  uint32_t managed = 0;
  if (DRIVER(cuPointerGetAttribute)(&type, kMemoryType, address) != kSuccess) return kSuccess;
  DRIVER(cuPointerGetAttribute)(&managed, kIsManaged, address);
  DRIVER(cuPointerGetAttribute)(&attributes->device, kOrdinal, address);
  attributes->type = managed != 0 ? 3 : static_cast<int>(type);
  attributes->device_pointer = const_cast<void*>(pointer);
  attributes->host_pointer = attributes->type == 2 ? nullptr : const_cast<void*>(pointer);
  return kSuccess;
}

// cudaPitchedPtr and cudaExtent.
struct Pitched {
  void* pointer;
  size_t pitch, width, height;
};
struct Extent {
  size_t width, height, depth;
};

DevicePointer* Out(void** pointer) { return reinterpret_cast<DevicePointer*>(pointer); }
DevicePointer Address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cudaMalloc(void** pointer, size_t bytes) {
  SIM_CALL({
    if (bytes == 0) return *pointer = nullptr, kSuccess;
    return DRIVER(cuMemAlloc_v2)(Out(pointer), bytes);
  });
}

SIM_EXPORT int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  SIM_CALL({ return DRIVER(cuMemAllocManaged)(Out(pointer), bytes, flags); });
}

SIM_EXPORT int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  SIM_CALL({ return DRIVER(cuMemAllocPitch_v2)(Out(pointer), pitch, width, height, 4); });
}

SIM_EXPORT int cudaMalloc3D(Pitched* pitched, Extent extent) {
  SIM_CALL({
    *pitched = {nullptr, 0, extent.width, extent.height};
    return DRIVER(cuMemAllocPitch_v2)(Out(&pitched->pointer), &pitched->pitch, extent.width,
                                      extent.height * extent.depth, 4);
  });
}

SIM_EXPORT int cudaFree(void* pointer) {
  SIM_CALL({ return DRIVER(cuMemFree_v2)(Address(pointer)); });
}

SIM_EXPORT int cudaMallocHost(void** pointer, size_t bytes) {
  SIM_CALL({ return DRIVER(cuMemHostAlloc)(pointer, bytes, 0); });
}

SIM_EXPORT int cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  SIM_CALL({ return DRIVER(cuMemHostAlloc)(pointer, bytes, flags); });
}

SIM_EXPORT int cudaFreeHost(void* pointer) {
  SIM_CALL({ return pointer == nullptr ? kSuccess : DRIVER(cuMemFreeHost)(pointer); });
}

SIM_EXPORT int cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  SIM_CALL({ return DRIVER(cuMemHostRegister_v2)(pointer, bytes, flags); });
}

SIM_EXPORT int cudaHostUnregister(void* pointer) {
  SIM_CALL({ return DRIVER(cuMemHostUnregister)(pointer); });
}

SIM_EXPORT int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  SIM_CALL({
    uint32_t type = 0;
    *device = host;
    return DRIVER(cuPointerGetAttribute)(&type, kMemoryType, Address(host));
  });
}

SIM_EXPORT int cudaHostGetFlags(unsigned* flags, void* host) {
  SIM_CALL({
    uint32_t type = 0;
    *flags = 0;
    return DRIVER(cuPointerGetAttribute)(&type, kMemoryType, Address(host));
  });
}

SIM_EXPORT int cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  SIM_CALL({ return DRIVER(cuMemGetInfo_v2)(free_bytes, total_bytes); });
}

SIM_EXPORT int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  SIM_CALL({ return Describe(attributes, pointer); });
}

SIM_STREAM_CALL(cudaMallocAsync, _ptsz, (void** pointer, size_t bytes, void* stream),
                { return DRIVER(cuMemAllocAsync)(Out(pointer), bytes, On(stream)); })

SIM_STREAM_CALL(cudaMallocFromPoolAsync, _ptsz,
                (void** pointer, size_t bytes, void* pool, void* stream),
                { return DRIVER(cuMemAllocFromPoolAsync)(Out(pointer), bytes, pool, On(stream)); })

SIM_STREAM_CALL(cudaFreeAsync, _ptsz, (void* pointer, void* stream),
                { return DRIVER(cuMemFreeAsync)(Address(pointer), On(stream)); })

SIM_EXPORT int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  SIM_CALL({ return DRIVER(cuDeviceGetDefaultMemPool)(pool, device); });
}

SIM_EXPORT int cudaDeviceGetMemPool(void** pool, int device) {
  SIM_CALL({ return DRIVER(cuDeviceGetMemPool)(pool, device); });
}

SIM_EXPORT int cudaDeviceSetMemPool(int device, void* pool) {
  SIM_CALL({ return DRIVER(cuDeviceSetMemPool)(device, pool); });
}

SIM_EXPORT int cudaMemPoolCreate(void** pool, const void* properties) {
  SIM_CALL({ return DRIVER(cuMemPoolCreate)(pool, properties); });
}

SIM_EXPORT int cudaMemPoolDestroy(void* pool) {
  SIM_CALL({ return DRIVER(cuMemPoolDestroy)(pool); });
}

SIM_EXPORT int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  SIM_CALL({ return DRIVER(cuMemPoolGetAttribute)(pool, attribute, value); });
}

SIM_EXPORT int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  SIM_CALL({ return DRIVER(cuMemPoolSetAttribute)(pool, attribute, value); });
}

SIM_EXPORT int cudaMemPoolTrimTo(void* pool, size_t bytes) {
  SIM_CALL({ return DRIVER(cuMemPoolTrimTo)(pool, bytes); });
}

SIM_EXPORT int cudaMemPoolSetAccess(void* pool, const void* access, size_t count) {
  SIM_CALL({ return DRIVER(cuMemPoolSetAccess)(pool, access, count); });
}
