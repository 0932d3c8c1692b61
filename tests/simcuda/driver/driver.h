// The driver functions that the test double's runtime calls, in its own words: handles are void*.
#ifndef SIMCUDA_DRIVER_DRIVER_H_
#define SIMCUDA_DRIVER_DRIVER_H_

#include <cstddef>
#include <cstdint>

using DevicePointer = uint64_t;
using HostFunction = void (*)(void*);

// CUDA_MEMCPY2D: positions and sizes of a pitched copy.
struct Copy2D {
  size_t source_x, source_y;
  uint32_t source_type;  // 1 host, 2 device, 3 array, 4 unified
  const void* source_host;
  DevicePointer source_device;
  void* source_array;
  size_t source_pitch;
  size_t destination_x, destination_y;
  uint32_t destination_type;
  void* destination_host;
  DevicePointer destination_device;
  void* destination_array;
  size_t destination_pitch;
  size_t width_bytes, height;
};
static_assert(sizeof(Copy2D) == 128, "CUDA_MEMCPY2D_v2 of cuda.h");

// CUDA_MEMCPY3D: the same with depth; `source_object` and such are CUDA's unused words.
struct Copy3D {
  size_t source_x, source_y, source_z, source_level;
  uint32_t source_type;
  const void* source_host;
  DevicePointer source_device;
  void* source_array;
  void* source_object;
  size_t source_pitch, source_height;
  size_t destination_x, destination_y, destination_z, destination_level;
  uint32_t destination_type;
  void* destination_host;
  DevicePointer destination_device;
  void* destination_array;
  void* destination_object;
  size_t destination_pitch, destination_height;
  size_t width_bytes, height, depth;
};
static_assert(sizeof(Copy3D) == 200, "CUDA_MEMCPY3D_v2 of cuda.h");

// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  void* stream;
  void* attributes;
  uint32_t attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56, "CUlaunchConfig of cuda.h");

// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  void* function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;
  void* context;
};
static_assert(sizeof(KernelNode) == 72, "CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h");

// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNode {
  DevicePointer destination;
  size_t pitch;
  uint32_t value;
  uint32_t element_bytes;
  size_t width;  // in elements
  size_t height;
};
static_assert(sizeof(MemsetNode) == 40, "CUDA_MEMSET_NODE_PARAMS of cuda.h");

// CUDA_HOST_NODE_PARAMS.
struct HostNode {
  HostFunction function;
  void* data;
};

extern "C" {
int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuGetProcAddress_v2(const char* name, void** entry, int version, uint64_t flags, int* found);

int cuDeviceGetCount(int* count);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDeviceGetPCIBusId(char* text, int size, int device);
int cuDeviceGetByPCIBusId(int* device, const char* text);
int cuDeviceCanAccessPeer(int* can, int device, int peer);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuDevicePrimaryCtxReset_v2(int device);
int cuCtxSetCurrent(void* context);
int cuCtxGetCurrent(void** context);
int cuCtxSynchronize();
int cuCtxEnablePeerAccess(void* context, unsigned flags);
int cuCtxDisablePeerAccess(void* context);
int cuCtxGetLimit(size_t* value, int limit);
int cuCtxSetLimit(int limit, size_t value);

int cuMemAlloc_v2(DevicePointer* pointer, size_t bytes);
int cuMemAllocPitch_v2(DevicePointer* pointer, size_t* pitch, size_t width, size_t height,
                       unsigned element);
int cuMemAllocManaged(DevicePointer* pointer, size_t bytes, unsigned flags);
int cuMemFree_v2(DevicePointer pointer);
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void* pointer);
int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void* pointer);
int cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes);
int cuMemAllocAsync(DevicePointer* pointer, size_t bytes, void* stream);
int cuMemAllocFromPoolAsync(DevicePointer* pointer, size_t bytes, void* pool, void* stream);
int cuMemFreeAsync(DevicePointer pointer, void* stream);
int cuDeviceGetDefaultMemPool(void** pool, int device);
int cuDeviceGetMemPool(void** pool, int device);
int cuDeviceSetMemPool(int device, void* pool);
int cuMemPoolCreate(void** pool, const void* properties);
int cuMemPoolDestroy(void* pool);
int cuMemPoolGetAttribute(void* pool, int attribute, void* value);
int cuMemPoolSetAttribute(void* pool, int attribute, void* value);
int cuMemPoolTrimTo(void* pool, size_t bytes);
int cuMemPoolSetAccess(void* pool, const void* access, size_t count);
int cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer);
int cuMemAdvise(DevicePointer pointer, size_t bytes, int advice, int device);
int cuMemAdvise_v2(DevicePointer pointer, size_t bytes, int advice, uint64_t location);
int cuMemPrefetchAsync(DevicePointer pointer, size_t bytes, int device, void* stream);
int cuMemPrefetchAsync_v2(DevicePointer pointer, size_t bytes, uint64_t location, unsigned flags,
                          void* stream);
int cuStreamAttachMemAsync(void* stream, DevicePointer pointer, size_t bytes, unsigned flags);

int cuMemcpy(DevicePointer destination, DevicePointer source, size_t bytes);
int cuMemcpy_ptds(DevicePointer destination, DevicePointer source, size_t bytes);
int cuMemcpyAsync(DevicePointer destination, DevicePointer source, size_t bytes, void* stream);
int cuMemcpyHtoD_v2(DevicePointer destination, const void* source, size_t bytes);
int cuMemcpyHtoD_v2_ptds(DevicePointer destination, const void* source, size_t bytes);
int cuMemcpyDtoH_v2(void* destination, DevicePointer source, size_t bytes);
int cuMemcpyDtoH_v2_ptds(void* destination, DevicePointer source, size_t bytes);
int cuMemcpyDtoD_v2(DevicePointer destination, DevicePointer source, size_t bytes);
int cuMemcpyDtoD_v2_ptds(DevicePointer destination, DevicePointer source, size_t bytes);
int cuMemcpyHtoDAsync_v2(DevicePointer destination, const void* source, size_t bytes, void* stream);
int cuMemcpyDtoHAsync_v2(void* destination, DevicePointer source, size_t bytes, void* stream);
int cuMemcpyDtoDAsync_v2(DevicePointer destination, DevicePointer source, size_t bytes,
                         void* stream);
int cuMemcpyPeer(DevicePointer destination, void* to, DevicePointer source, void* from,
                 size_t bytes);
int cuMemcpyPeerAsync(DevicePointer destination, void* to, DevicePointer source, void* from,
                      size_t bytes, void* stream);
int cuMemcpy2D_v2(const Copy2D* copy);
int cuMemcpy2D_v2_ptds(const Copy2D* copy);
int cuMemcpy2DAsync_v2(const Copy2D* copy, void* stream);
int cuMemcpy3D_v2(const Copy3D* copy);
int cuMemcpy3D_v2_ptds(const Copy3D* copy);
int cuMemcpy3DAsync_v2(const Copy3D* copy, void* stream);
int cuMemsetD8_v2(DevicePointer destination, unsigned char value, size_t count);
int cuMemsetD8_v2_ptds(DevicePointer destination, unsigned char value, size_t count);
int cuMemsetD8Async(DevicePointer destination, unsigned char value, size_t count, void* stream);
int cuMemsetD2D8_v2(DevicePointer destination, size_t pitch, unsigned char value, size_t width,
                    size_t height);
int cuMemsetD2D8_v2_ptds(DevicePointer destination, size_t pitch, unsigned char value, size_t width,
                         size_t height);
int cuMemsetD2D8Async(DevicePointer destination, size_t pitch, unsigned char value, size_t width,
                      size_t height, void* stream);

int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority);
int cuStreamDestroy_v2(void* stream);
int cuStreamSynchronize(void* stream);
int cuStreamQuery(void* stream);
int cuStreamWaitEvent(void* stream, void* event, unsigned flags);
int cuStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data,
                        unsigned flags);
int cuStreamGetFlags(void* stream, unsigned* flags);
int cuStreamGetPriority(void* stream, int* priority);
int cuStreamGetId(void* stream, unsigned long long* id);
int cuStreamGetDevice(void* stream, int* device);
int cuCtxGetStreamPriorityRange(int* least, int* greatest);
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamBeginCaptureToGraph(void* stream, void* graph, void* const* dependencies,
                                const void* edges, size_t count, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuStreamIsCapturing(void* stream, int* status);
int cuStreamGetCaptureInfo_v3(void* stream, int* status, uint64_t* id, void** graph,
                              void* const** dependencies, const void** edges, size_t* count);
int cuStreamUpdateCaptureDependencies_v2(void* stream, void** dependencies, const void* edges,
                                         size_t count, unsigned flags);
int cuThreadExchangeStreamCaptureMode(int* mode);
int cuEventCreate(void** event, unsigned flags);
int cuEventDestroy_v2(void* event);
int cuEventRecord(void* event, void* stream);
int cuEventRecordWithFlags(void* event, void* stream, unsigned flags);
int cuEventQuery(void* event);
int cuEventSynchronize(void* event);
int cuEventElapsedTime_v2(float* milliseconds, void* start, void* end);

int cuLibraryLoadData(void** library, const void* image, void*, void**, unsigned, void*, void**,
                      unsigned);
int cuLibraryGetKernel(void** kernel, void* library, const char* name);
int cuKernelGetFunction(void** function, void* kernel);
int cuFuncGetAttribute(int* value, int attribute, void* function);
int cuFuncSetAttribute(void* function, int attribute, int value);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function,
                                                         int block_size, size_t shared_bytes,
                                                         unsigned flags);
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void* stream, void** arguments, void** extra);
int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** arguments, void** extra);
int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void* stream, void** arguments);
int cuLaunchHostFunc(void* stream, HostFunction function, void* data);

int cuGraphCreate(void** graph, unsigned flags);
int cuGraphDestroy(void* graph);
int cuGraphClone(void** clone, void* graph);
int cuGraphAddKernelNode_v2(void** node, void* graph, void* const* dependencies, size_t count,
                            const KernelNode* kernel);
int cuGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies, size_t count,
                         const Copy3D* copy, void* context);
int cuGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, size_t count,
                         const MemsetNode* memset, void* context);
int cuGraphAddHostNode(void** node, void* graph, void* const* dependencies, size_t count,
                       const HostNode* host);
int cuGraphAddEmptyNode(void** node, void* graph, void* const* dependencies, size_t count);
int cuGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies, size_t count,
                             void* child);
int cuGraphAddDependencies_v2(void* graph, void* const* from, void* const* to, const void* edges,
                              size_t count);
int cuGraphGetNodes(void* graph, void** nodes, size_t* count);
int cuGraphGetRootNodes(void* graph, void** nodes, size_t* count);
int cuGraphNodeGetType(void* node, int* type);
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
int cuGraphExecDestroy(void* exec);
int cuGraphLaunch(void* exec, void* stream);
int cuGraphUpload(void* exec, void* stream);
int cuProfilerStart();
int cuProfilerStop();
}

#endif  // SIMCUDA_DRIVER_DRIVER_H_
