// Modules, libraries, kernels of them, and linking; an image's contents are never looked at.
#include <algorithm>
#include <cstring>

#include "core/context.h"
#include "core/kernels.h"
#include "driver/call.h"

namespace simcuda {
namespace {

// What a handle of a module or library points to; a name finds its kernel in any.
struct Module {
  char unused;
};

void NotifyModule(ResourceCbid cbid, void* module) {
  auto notify = simcuda_core()->tools.resource.load(std::memory_order_acquire);
  if (notify != nullptr) notify(cbid, CurrentContext(), module);
}

int Load(void** module) {
  *module = new Module{};
  NotifyModule(kModuleLoaded, *module);
  return kSuccess;
}

int Unload(void* module) {
  if (module == nullptr) return kInvalidHandle;
  NotifyModule(kModuleUnloadStarting, module);
  delete static_cast<Module*>(module);
  return kSuccess;
}

int Find(void** kernel, void* module, const char* name) {
  if (module == nullptr || name == nullptr) return kInvalidValue;
  *kernel = FindKernel(name);
  return kSuccess;
}

int Attribute(int* value, int attribute, void* handle) {
  if (!IsKernel(handle)) return kInvalidHandle;
  const auto& kernel = *static_cast<Kernel*>(handle);
  switch (attribute) {
    case 0:
      *value = 1024;
      break;  // threads per block
    case 1:
      *value = static_cast<int>(kernel.static_shared_bytes);
      break;
    case 4:
      *value = static_cast<int>(kernel.registers);
      break;
    case 5:
    case 6:
      *value = 90;
      break;  // PTX and binary version
    case 8:
      *value = static_cast<int>(kernel.dynamic_shared_limit);
      break;
    default:
      *value = 0;
  }
  return kSuccess;
}

int SetAttribute(void* handle, int attribute, int value) {
  if (!IsKernel(handle)) return kInvalidHandle;
  constexpr int kDynamicSharedLimit = 8;
  if (attribute == kDynamicSharedLimit) {
    static_cast<Kernel*>(handle)->dynamic_shared_limit = static_cast<uint32_t>(value);
  }
  return kSuccess;
}

int Name(const char** name, void* handle) {
  if (!IsKernel(handle)) return kInvalidHandle;
  *name = static_cast<Kernel*>(handle)->name.c_str();
  return kSuccess;
}

// Blocks of a multiprocessor: as many as its 2048 threads and 32 places hold.
int ActiveBlocks(int block_size) { return block_size <= 0 ? 0 : std::min(32, 2048 / block_size); }

struct Linker {
  char image[64];
};

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuModuleLoad(void** module, const char*) {
  SIM_CALL({ return Load(module); });
}

SIM_EXPORT int cuModuleLoadData(void** module, const void*) {
  SIM_CALL({ return Load(module); });
}

SIM_EXPORT int cuModuleLoadDataEx(void** module, const void*, unsigned, void*, void**) {
  SIM_CALL({ return Load(module); });
}

SIM_EXPORT int cuModuleLoadFatBinary(void** module, const void*) {
  SIM_CALL({ return Load(module); });
}

SIM_EXPORT int cuModuleUnload(void* module) {
  SIM_CALL({ return Unload(module); });
}

SIM_EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
  SIM_CALL({ return Find(function, module, name); });
}

SIM_EXPORT int cuModuleGetGlobal_v2(DevicePointer*, size_t*, void*, const char*) {
  SIM_CALL({ return kNotFound; });
}

SIM_EXPORT int cuModuleGetLoadingMode(int* mode) {
  SIM_CALL({
    *mode = 2;  // lazy
    return kSuccess;
  });
}

SIM_EXPORT int cuLibraryLoadData(void** library, const void*, void*, void**, unsigned, void*,
                                 void**, unsigned) {
  SIM_CALL({ return Load(library); });
}

SIM_EXPORT int cuLibraryLoadFromFile(void** library, const char*, void*, void**, unsigned, void*,
                                     void**, unsigned) {
  SIM_CALL({ return Load(library); });
}

SIM_EXPORT int cuLibraryUnload(void* library) {
  SIM_CALL({ return Unload(library); });
}

SIM_EXPORT int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  SIM_CALL({ return Find(kernel, library, name); });
}

SIM_EXPORT int cuLibraryGetModule(void** module, void* library) {
  SIM_CALL({
    *module = library;
    return kSuccess;
  });
}

SIM_EXPORT int cuLibraryGetGlobal(DevicePointer*, size_t*, void*, const char*) {
  SIM_CALL({ return kNotFound; });
}

SIM_EXPORT int cuKernelGetFunction(void** function, void* kernel) {
  SIM_CALL({
    *function = kernel;
    return IsKernel(kernel) ? kSuccess : kInvalidHandle;
  });
}

SIM_EXPORT int cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  SIM_CALL({ return Attribute(value, attribute, kernel); });
}

SIM_EXPORT int cuKernelSetAttribute(int attribute, int value, void* kernel, int) {
  SIM_CALL({ return SetAttribute(kernel, attribute, value); });
}

SIM_EXPORT int cuKernelGetName(const char** name, void* kernel) {
  SIM_CALL({ return Name(name, kernel); });
}

SIM_EXPORT int cuFuncGetName(const char** name, void* function) {
  SIM_CALL({ return Name(name, function); });
}

SIM_EXPORT int cuFuncGetModule(void** module, void* function) {
  SIM_CALL({
    *module = function;
    return IsKernel(function) ? kSuccess : kInvalidHandle;
  });
}

SIM_EXPORT int cuFuncLoad(void* function) {
  SIM_CALL({ return IsKernel(function) ? kSuccess : kInvalidHandle; });
}

SIM_EXPORT int cuFuncIsLoaded(int* loaded, void* function) {
  SIM_CALL({
    *loaded = 1;
    return IsKernel(function) ? kSuccess : kInvalidHandle;
  });
}

SIM_EXPORT int cuFuncGetAttribute(int* value, int attribute, void* function) {
  SIM_CALL({ return Attribute(value, attribute, function); });
}

SIM_EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) {
  SIM_CALL({ return SetAttribute(function, attribute, value); });
}

SIM_EXPORT int cuFuncSetCacheConfig(void* function, int) {
  SIM_CALL({ return IsKernel(function) ? kSuccess : kInvalidHandle; });
}

SIM_EXPORT int cuFuncSetSharedMemConfig(void* function, int) {
  SIM_CALL({ return IsKernel(function) ? kSuccess : kInvalidHandle; });
}

SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int block_size,
                                                           size_t) {
  SIM_CALL({
    *blocks = ActiveBlocks(block_size);
    return kSuccess;
  });
}

SIM_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void*,
                                                                    int block_size, size_t,
                                                                    unsigned) {
  SIM_CALL({
    *blocks = ActiveBlocks(block_size);
    return kSuccess;
  });
}

SIM_EXPORT int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void*, size_t (*)(int),
                                                size_t, int) {
  SIM_CALL({
    *grid = 132 * 8;
    *block = 256;
    return kSuccess;
  });
}

SIM_EXPORT int cuLinkCreate_v2(unsigned, void*, void**, void** linker) {
  SIM_CALL({
    *linker = new Linker{};
    return kSuccess;
  });
}

SIM_EXPORT int cuLinkAddData_v2(void*, int, void*, size_t, const char*, unsigned, void*, void**) {
  SIM_CALL({ return kSuccess; });
}

SIM_EXPORT int cuLinkAddFile_v2(void*, int, const char*, unsigned, void*, void**) {
  SIM_CALL({ return kSuccess; });
}

SIM_EXPORT int cuLinkComplete(void* linker, void** image, size_t* bytes) {
  SIM_CALL({
    *image = static_cast<Linker*>(linker)->image;
    *bytes = sizeof(Linker::image);
    memcpy(*image, "\177ELF simulated", 14);
    return kSuccess;
  });
}

SIM_EXPORT int cuLinkDestroy(void* linker) {
  SIM_CALL({
    delete static_cast<Linker*>(linker);
    return kSuccess;
  });
}
