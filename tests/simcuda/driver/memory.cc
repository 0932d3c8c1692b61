// Allocation, pinning, pools, and what an address is.
#include "core/memory.h"

#include "core/clock.h"
#include "core/context.h"
#include "driver/call.h"

namespace simcuda {
namespace {

int Allocate(DevicePointer* pointer, size_t bytes, MemoryKind kind) {
  const Context* context = CurrentContext();
  if (context == nullptr) return kInvalidContext;
  if (pointer == nullptr || bytes == 0) return kInvalidValue;
  void* block = AllocateMemory(bytes, kind, context->device);
  *pointer = reinterpret_cast<DevicePointer>(block);
  return block == nullptr ? kOutOfMemory : kSuccess;
}

// Freeing waits for the device, as in CUDA.
int Free(DevicePointer pointer) {
  if (pointer == 0) return kSuccess;
  const Context* context = CurrentContext();
  if (context != nullptr) {
    uint64_t ready_ns = 0;
    {
      std::lock_guard<std::mutex> guard(ModelLock());
      if (IsContext(context)) ready_ns = ReadyNs(*context);
    }
    WaitUntil(ready_ns);
  }
  return FreeMemory(reinterpret_cast<void*>(pointer), false) ? kSuccess : kInvalidValue;
}

// One pool for each device; what it is set to it remembers.
struct Pool {
  int device;
  uint64_t attributes[16];
};

Pool* DefaultPool(int device) {
  static Pool* const pools = [] {
    auto* all = new Pool[64]{};
    for (int i = 0; i < 64; ++i) all[i].device = i;
    return all;
  }();
  bool known = device >= 0 && device < DeviceCount() && device < 64;
  return known ? &pools[device] : nullptr;
}

int GivePool(void** pool, int device) {
  *pool = DefaultPool(device);
  return *pool == nullptr ? kInvalidDevice : kSuccess;
}

// Attributes 1 to 3 are ints, the others 64-bit numbers.
bool IsWide(int attribute) { return attribute > 3; }

template <class T>
int Give(void* value, T answer) {
  *static_cast<T*>(value) = answer;
  return kSuccess;
}

int DescribePointer(void* value, int attribute, const void* pointer) {
  MemoryRange range = FindMemory(pointer);
  if (range.bytes == 0) return kInvalidValue;
  bool on_device = range.kind != MemoryKind::kPinned;
  switch (attribute) {
    case 1: {
      std::lock_guard<std::mutex> guard(ModelLock());
      return Give<void*>(value, PrimaryContext(range.device, false));
    }
    case 2:
      return Give<uint32_t>(value, on_device ? 2 : 1);
    case 3:
      return Give<const void*>(value, pointer);
    case 4:
      return range.kind == MemoryKind::kDevice ? kInvalidValue : Give<const void*>(value, pointer);
    case 7:
      return Give<uint64_t>(value, range.start);
    case 8:
      return Give<uint32_t>(value, range.kind == MemoryKind::kManaged);
    case 9:
      return Give<int>(value, range.device);
    case 11:
      return Give<uint64_t>(value, range.start);
    case 12:
      return Give<uint64_t>(value, range.bytes);
    case 13:
      return Give<uint32_t>(value, 1);
    default:
      return kNotSupported;
  }
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
  SIM_CALL({ return Allocate(pointer, bytes, MemoryKind::kDevice); });
}

SIM_EXPORT int cuMemAllocPitch_v2(DevicePointer* pointer, size_t* pitch, size_t width,
                                  size_t height, unsigned) {
  SIM_CALL({
    *pitch = (width + 511) / 512 * 512;
    return Allocate(pointer, *pitch * height, MemoryKind::kDevice);
  });
}

SIM_EXPORT int cuMemAllocManaged(DevicePointer* pointer, size_t bytes, unsigned) {
  SIM_CALL({ return Allocate(pointer, bytes, MemoryKind::kManaged); });
}

SIM_EXPORT int cuMemFree_v2(DevicePointer pointer) {
  SIM_CALL({ return Free(pointer); });
}

SIM_EXPORT int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  SIM_CALL({
    *pointer = AllocateMemory(bytes, MemoryKind::kPinned, 0);
    return *pointer == nullptr ? kOutOfMemory : kSuccess;
  });
}

SIM_EXPORT int cuMemAllocHost_v2(void** pointer, size_t bytes) {
  SIM_CALL({
    *pointer = AllocateMemory(bytes, MemoryKind::kPinned, 0);
    return *pointer == nullptr ? kOutOfMemory : kSuccess;
  });
}

SIM_EXPORT int cuMemFreeHost(void* pointer) {
  SIM_CALL({ return FreeMemory(pointer, true) ? kSuccess : kInvalidValue; });
}

SIM_EXPORT int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned) {
  SIM_CALL({ return RegisterMemory(pointer, bytes) ? kSuccess : kHostMemoryAlreadyRegistered; });
}

SIM_EXPORT int cuMemHostUnregister(void* pointer) {
  SIM_CALL({ return UnregisterMemory(pointer) ? kSuccess : kHostMemoryNotRegistered; });
}

SIM_EXPORT int cuMemHostGetDevicePointer_v2(DevicePointer* device, void* host, unsigned) {
  SIM_CALL({
    *device = reinterpret_cast<DevicePointer>(host);
    return FindMemory(host).kind == MemoryKind::kPinned ? kSuccess : kInvalidValue;
  });
}

SIM_EXPORT int cuMemHostGetFlags(unsigned* flags, void* host) {
  SIM_CALL({
    *flags = 0;
    return FindMemory(host).kind == MemoryKind::kPinned ? kSuccess : kInvalidValue;
  });
}

SIM_EXPORT int cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  SIM_CALL({
    if (CurrentContext() == nullptr) return kInvalidContext;
    *free_bytes = FreeBytes(CurrentContext()->device);
    *total_bytes = kDeviceBytes;
    return kSuccess;
  });
}

SIM_EXPORT int cuMemGetAddressRange_v2(DevicePointer* start, size_t* bytes, DevicePointer pointer) {
  SIM_CALL({
    MemoryRange range = FindMemory(reinterpret_cast<void*>(pointer));
    if (range.bytes == 0) return kInvalidValue;
    if (start != nullptr) *start = range.start;
    if (bytes != nullptr) *bytes = range.bytes;
    return kSuccess;
  });
}

SIM_EXPORT int cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer) {
  SIM_CALL({ return DescribePointer(value, attribute, reinterpret_cast<void*>(pointer)); });
}

SIM_EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                      DevicePointer pointer) {
  SIM_CALL({
    for (unsigned i = 0; i < count; ++i)
      DescribePointer(values[i], attributes[i], reinterpret_cast<void*>(pointer));
    return kSuccess;
  });
}

// Stream-ordered allocation: the block is there at once, the order of later work on the stream is
// kept anyway.
SIM_STREAM_CALL(cuMemAllocAsync, _ptsz, (DevicePointer * pointer, size_t bytes, void*),
                { return Allocate(pointer, bytes, MemoryKind::kDevice); })

SIM_STREAM_CALL(cuMemAllocFromPoolAsync, _ptsz,
                (DevicePointer * pointer, size_t bytes, void*, void*),
                { return Allocate(pointer, bytes, MemoryKind::kDevice); })

SIM_STREAM_CALL(cuMemFreeAsync, _ptsz, (DevicePointer pointer, void*), {
  return FreeMemory(reinterpret_cast<void*>(pointer), false) ? kSuccess : kInvalidValue;
})

SIM_EXPORT int cuDeviceGetDefaultMemPool(void** pool, int device) {
  SIM_CALL({ return GivePool(pool, device); });
}

SIM_EXPORT int cuDeviceGetMemPool(void** pool, int device) {
  SIM_CALL({ return GivePool(pool, device); });
}

SIM_EXPORT int cuDeviceSetMemPool(int device, void* pool) {
  SIM_CALL(
      { return DefaultPool(device) == nullptr || pool == nullptr ? kInvalidValue : kSuccess; });
}

SIM_EXPORT int cuMemPoolCreate(void** pool, const void*) {
  SIM_CALL({
    *pool = new Pool{};
    return kSuccess;
  });
}

SIM_EXPORT int cuMemPoolDestroy(void* pool) {
  SIM_CALL({
    delete static_cast<Pool*>(pool);
    return kSuccess;
  });
}

SIM_EXPORT int cuMemPoolGetAttribute(void* pool, int attribute, void* value) {
  SIM_CALL({
    if (pool == nullptr || attribute < 0 || attribute > 15) return kInvalidValue;
    uint64_t kept = static_cast<Pool*>(pool)->attributes[attribute];
    return IsWide(attribute) ? Give<uint64_t>(value, kept)
                             : Give<int>(value, static_cast<int>(kept));
  });
}

SIM_EXPORT int cuMemPoolSetAttribute(void* pool, int attribute, void* value) {
  SIM_CALL({
    if (pool == nullptr || attribute < 0 || attribute > 15) return kInvalidValue;
    uint64_t& kept = static_cast<Pool*>(pool)->attributes[attribute];
    kept = IsWide(attribute) ? *static_cast<uint64_t*>(value)
                             : static_cast<uint64_t>(*static_cast<int*>(value));
    return kSuccess;
  });
}

SIM_EXPORT int cuMemPoolTrimTo(void* pool, size_t) {
  SIM_CALL({ return pool == nullptr ? kInvalidValue : kSuccess; });
}

SIM_EXPORT int cuMemPoolSetAccess(void* pool, const void*, size_t) {
  SIM_CALL({ return pool == nullptr ? kInvalidValue : kSuccess; });
}
