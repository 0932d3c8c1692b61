// cudaGetDeviceProperties: cudaDeviceProp changed between CUDA 12 and 13, so it is filled in by
// offset.
#include <cstring>

#include "runtime/call.h"

namespace simcuda {
namespace {

// Offsets and sizes: offsetof and sizeof, compiled with driver_types.h of CUDA 12.9 and of
// CUDA 13.0; -1: not there.
struct Field {
  const char* name;
  int attribute;  // the CUdevice_attribute it repeats
  int offset_12;
  int offset_13;
  int bytes;
};

constexpr Field kFields[] = {
    {"totalConstMem", 9, 352, 352, 8},
    {"sharedMemPerBlock", 8, 296, 296, 8},
    {"regsPerBlock", 12, 304, 304, 4},
    {"warpSize", 10, 308, 308, 4},
    {"memPitch", 11, 312, 312, 8},
    {"maxThreadsPerBlock", 1, 320, 320, 4},
    {"maxThreadsDim[0]", 2, 324, 324, 4},
    {"maxThreadsDim[1]", 3, 328, 328, 4},
    {"maxThreadsDim[2]", 4, 332, 332, 4},
    {"maxGridSize[0]", 5, 336, 336, 4},
    {"maxGridSize[1]", 6, 340, 340, 4},
    {"maxGridSize[2]", 7, 344, 344, 4},
    {"clockRate", 13, 348, -1, 4},
    {"major", 75, 360, 360, 4},
    {"minor", 76, 364, 364, 4},
    {"textureAlignment", 14, 368, 368, 8},
    {"texturePitchAlignment", 51, 376, 376, 8},
    {"deviceOverlap", 15, 384, -1, 4},
    {"multiProcessorCount", 16, 388, 384, 4},
    {"canMapHostMemory", 19, 400, 392, 4},
    {"surfaceAlignment", 30, 568, 552, 8},
    {"concurrentKernels", 31, 576, 560, 4},
    {"pciBusID", 33, 584, 568, 4},
    {"asyncEngineCount", 40, 600, 584, 4},
    {"unifiedAddressing", 41, 604, 588, 4},
    {"memoryClockRate", 36, 608, -1, 4},
    {"memoryBusWidth", 37, 612, 592, 4},
    {"l2CacheSize", 38, 616, 596, 4},
    {"maxThreadsPerMultiProcessor", 39, 624, 604, 4},
    {"streamPrioritiesSupported", 78, 628, 608, 4},
    {"globalL1CacheSupported", 79, 632, 612, 4},
    {"localL1CacheSupported", 80, 636, 616, 4},
    {"sharedMemPerMultiprocessor", 81, 640, 624, 8},
    {"regsPerMultiprocessor", 82, 648, 632, 4},
    {"managedMemory", 83, 652, 636, 4},
    {"hostNativeAtomicSupported", 86, 664, 648, 4},
    {"pageableMemoryAccess", 88, 672, 652, 4},
    {"concurrentManagedAccess", 89, 676, 656, 4},
    {"computePreemptionSupported", 90, 680, 660, 4},
    {"cooperativeLaunch", 95, 688, 668, 4},
    {"sharedMemPerBlockOptin", 97, 696, 672, 8},
    {"hostRegisterSupported", 99, 728, 704, 4},
    {"maxBlocksPerMultiProcessor", 106, 712, 688, 4},
    {"reservedSharedMemPerBlock", 111, 720, 696, 8},
    {"memoryPoolsSupported", 115, 744, 720, 4},
    {"clusterLaunch", 120, 772, 748, 4},
};

constexpr size_t kBytes = SIMCUDA_MAJOR == 12 ? 1032 : 1008;
constexpr size_t kTotalMemory = 288;  // in both
constexpr size_t kUuid = 256;

int Fill(char* properties, int device) {
  memset(properties, 0, kBytes);
  strcpy(properties, "Simulated H200");
  memset(properties + kUuid, 0x51, 16);
  properties[kUuid + 15] = static_cast<char>(device);
  size_t free_bytes = 0;
  int status =
      DRIVER(cuMemGetInfo_v2)(&free_bytes, reinterpret_cast<size_t*>(properties + kTotalMemory));
  for (const Field& field : kFields) {
    int value = 0;
    int offset = SIMCUDA_MAJOR == 12 ? field.offset_12 : field.offset_13;
    if (status == kSuccess) status = DRIVER(cuDeviceGetAttribute)(&value, field.attribute, device);
    uint64_t wide = static_cast<uint64_t>(value);
    if (offset >= 0) memcpy(properties + offset, &wide, static_cast<size_t>(field.bytes));
  }
  return status;
}

}  // namespace
}  // namespace simcuda

#if SIMCUDA_MAJOR == 12
SIM_EXPORT int cudaGetDeviceProperties_v2(char* properties, int device) {
  SIM_CALL({ return simcuda::Fill(properties, device); });
}
#else
SIM_EXPORT int cudaGetDeviceProperties(char* properties, int device) {
  SIM_CALL({ return simcuda::Fill(properties, device); });
}
#endif
