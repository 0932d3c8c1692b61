// The functions of the CUDA runtime library that librlscope_cudart.so stands in front of: those
// that launch, copy, set, allocate, free or wait. Declared as NVIDIA documents them; handles are
// pointers here.
#ifndef RLSCOPE_PRELOAD_CUDART_CALLS_H_
#define RLSCOPE_PRELOAD_CUDART_CALLS_H_

#include <stddef.h>

struct Dim3 {
  unsigned x, y, z;
};

#define RLSCOPE_LAUNCH \
  (const void* function, Dim3 grid, Dim3 block, void** arguments, size_t shared, void* stream)
#define RLSCOPE_LAUNCH_PASSED (function, grid, block, arguments, shared, stream)

// X(name, parameters, arguments): one function.
// Y(name, variant, parameters, arguments): two, the second for per-thread default streams.
#define RLSCOPE_CUDART_CALLS(X, Y)                                                                \
  Y(cudaLaunchKernel, _ptsz, RLSCOPE_LAUNCH, RLSCOPE_LAUNCH_PASSED)                               \
  Y(__cudaLaunchKernel, _ptsz, RLSCOPE_LAUNCH, RLSCOPE_LAUNCH_PASSED)                             \
  Y(cudaLaunchCooperativeKernel, _ptsz, RLSCOPE_LAUNCH, RLSCOPE_LAUNCH_PASSED)                    \
  Y(cudaLaunchKernelExC, _ptsz, (const void* config, const void* function, void** arguments),     \
    (config, function, arguments))                                                                \
  Y(cudaLaunchHostFunc, _ptsz, (void* stream, void (*function)(void*), void* data),               \
    (stream, function, data))                                                                     \
  Y(cudaGraphLaunch, _ptsz, (void* graph, void* stream), (graph, stream))                         \
  Y(cudaMemcpy, _ptds, (void* to, const void* from, size_t bytes, int kind),                      \
    (to, from, bytes, kind))                                                                      \
  Y(cudaMemcpyAsync, _ptsz, (void* to, const void* from, size_t bytes, int kind, void* stream),   \
    (to, from, bytes, kind, stream))                                                              \
  Y(cudaMemcpyToSymbol, _ptds,                                                                    \
    (const void* to, const void* from, size_t bytes, size_t offset, int kind),                    \
    (to, from, bytes, offset, kind))                                                              \
  Y(cudaMemcpyToSymbolAsync, _ptsz,                                                               \
    (const void* to, const void* from, size_t bytes, size_t offset, int kind, void* stream),      \
    (to, from, bytes, offset, kind, stream))                                                      \
  Y(cudaMemcpyFromSymbol, _ptds,                                                                  \
    (void* to, const void* from, size_t bytes, size_t offset, int kind),                          \
    (to, from, bytes, offset, kind))                                                              \
  Y(cudaMemcpyFromSymbolAsync, _ptsz,                                                             \
    (void* to, const void* from, size_t bytes, size_t offset, int kind, void* stream),            \
    (to, from, bytes, offset, kind, stream))                                                      \
  Y(cudaMemcpy2D, _ptds,                                                                          \
    (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, \
     int kind),                                                                                   \
    (to, to_pitch, from, from_pitch, width, height, kind))                                        \
  Y(cudaMemcpy2DAsync, _ptsz,                                                                     \
    (void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, \
     int kind, void* stream),                                                                     \
    (to, to_pitch, from, from_pitch, width, height, kind, stream))                                \
  Y(cudaMemcpy3D, _ptds, (const void* copy), (copy))                                              \
  Y(cudaMemcpy3DAsync, _ptsz, (const void* copy, void* stream), (copy, stream))                   \
  X(cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, size_t bytes),   \
    (to, to_device, from, from_device, bytes))                                                    \
  X(cudaMemcpyPeerAsync,                                                                          \
    (void* to, int to_device, const void* from, int from_device, size_t bytes, void* stream),     \
    (to, to_device, from, from_device, bytes, stream))                                            \
  Y(cudaMemset, _ptds, (void* to, int value, size_t bytes), (to, value, bytes))                   \
  Y(cudaMemsetAsync, _ptsz, (void* to, int value, size_t bytes, void* stream),                    \
    (to, value, bytes, stream))                                                                   \
  Y(cudaMemset2D, _ptds, (void* to, size_t pitch, int value, size_t width, size_t height),        \
    (to, pitch, value, width, height))                                                            \
  Y(cudaMemset2DAsync, _ptsz,                                                                     \
    (void* to, size_t pitch, int value, size_t width, size_t height, void* stream),               \
    (to, pitch, value, width, height, stream))                                                    \
  X(cudaMalloc, (void** made, size_t bytes), (made, bytes))                                       \
  X(cudaMallocPitch, (void** made, size_t* pitch, size_t width, size_t height),                   \
    (made, pitch, width, height))                                                                 \
  Y(cudaMallocAsync, _ptsz, (void** made, size_t bytes, void* stream), (made, bytes, stream))     \
  Y(cudaMallocFromPoolAsync, _ptsz, (void** made, size_t bytes, void* pool, void* stream),        \
    (made, bytes, pool, stream))                                                                  \
  X(cudaMallocHost, (void** made, size_t bytes), (made, bytes))                                   \
  X(cudaHostAlloc, (void** made, size_t bytes, unsigned flags), (made, bytes, flags))             \
  X(cudaHostRegister, (void* pointer, size_t bytes, unsigned flags), (pointer, bytes, flags))     \
  X(cudaHostUnregister, (void* pointer), (pointer))                                               \
  X(cudaMallocManaged, (void** made, size_t bytes, unsigned flags), (made, bytes, flags))         \
  X(cudaFree, (void* pointer), (pointer))                                                         \
  Y(cudaFreeAsync, _ptsz, (void* pointer, void* stream), (pointer, stream))                       \
  X(cudaFreeHost, (void* pointer), (pointer))                                                     \
  X(cudaDeviceReset, (void), ())                                                                  \
  X(cudaDeviceSynchronize, (void), ())                                                            \
  Y(cudaStreamSynchronize, _ptsz, (void* stream), (stream))                                       \
  X(cudaEventSynchronize, (void* event), (event))                                                 \
  Y(cudaEventRecord, _ptsz, (void* event, void* stream), (event, stream))                         \
  Y(cudaEventRecordWithFlags, _ptsz, (void* event, void* stream, unsigned flags),                 \
    (event, stream, flags))                                                                       \
  X(cudaEventQuery, (void* event), (event))                                                       \
  Y(cudaStreamQuery, _ptsz, (void* stream), (stream))                                             \
  Y(cudaStreamWaitEvent, _ptsz, (void* stream, void* event, unsigned flags), (stream, event, flags))

#endif  // RLSCOPE_PRELOAD_CUDART_CALLS_H_
