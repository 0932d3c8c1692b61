// Streams, capture, events.
#include "runtime/call.h"

using namespace simcuda;  // NOLINT: the file is the C interface

SIM_EXPORT int cudaStreamCreate(void** stream) {
  SIM_CALL({ return DRIVER(cuStreamCreateWithPriority)(stream, 0, 0); });
}

SIM_EXPORT int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  SIM_CALL({ return DRIVER(cuStreamCreateWithPriority)(stream, flags, 0); });
}

SIM_EXPORT int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  SIM_CALL({ return DRIVER(cuStreamCreateWithPriority)(stream, flags, priority); });
}

SIM_EXPORT int cudaStreamDestroy(void* stream) {
  SIM_CALL({ return DRIVER(cuStreamDestroy_v2)(stream); });
}

SIM_STREAM_CALL(cudaStreamSynchronize, _ptsz, (void* stream),
                { return DRIVER(cuStreamSynchronize)(On(stream)); })

SIM_STREAM_CALL(cudaStreamQuery, _ptsz, (void* stream),
                { return DRIVER(cuStreamQuery)(On(stream)); })

SIM_STREAM_CALL(cudaStreamWaitEvent, _ptsz, (void* stream, void* event, unsigned flags),
                { return DRIVER(cuStreamWaitEvent)(On(stream), event, flags); })

SIM_STREAM_CALL(cudaStreamAddCallback, _ptsz,
                (void* stream, void (*callback)(void*, int, void*), void* data, unsigned flags),
                { return DRIVER(cuStreamAddCallback)(On(stream), callback, data, flags); })

SIM_STREAM_CALL(cudaStreamGetFlags, _ptsz, (void* stream, unsigned* flags),
                { return DRIVER(cuStreamGetFlags)(On(stream), flags); })

SIM_STREAM_CALL(cudaStreamGetPriority, _ptsz, (void* stream, int* priority),
                { return DRIVER(cuStreamGetPriority)(On(stream), priority); })

SIM_STREAM_CALL(cudaStreamGetId, _ptsz, (void* stream, unsigned long long* id),
                { return DRIVER(cuStreamGetId)(On(stream), id); })

SIM_STREAM_CALL(cudaStreamGetDevice, _ptsz, (void* stream, int* device),
                { return DRIVER(cuStreamGetDevice)(On(stream), device); })

SIM_STREAM_CALL(cudaStreamBeginCapture, _ptsz, (void* stream, int mode),
                { return DRIVER(cuStreamBeginCapture_v2)(On(stream), mode); })

SIM_STREAM_CALL(cudaStreamBeginCaptureToGraph, _ptsz,
                (void* stream, void* graph, void* const* dependencies, const void* edges,
                 size_t count, int mode),
                {
                  return DRIVER(cuStreamBeginCaptureToGraph)(On(stream), graph, dependencies, edges,
                                                             count, mode);
                })

SIM_STREAM_CALL(cudaStreamEndCapture, _ptsz, (void* stream, void** graph),
                { return DRIVER(cuStreamEndCapture)(On(stream), graph); })

SIM_STREAM_CALL(cudaStreamIsCapturing, _ptsz, (void* stream, int* status),
                { return DRIVER(cuStreamIsCapturing)(On(stream), status); })

#if SIMCUDA_MAJOR == 12
#define SIM_WITH_EDGES(name) name##_v3
#define SIM_EDGES(name) name##_v2

SIM_STREAM_CALL(cudaStreamGetCaptureInfo, _ptsz, (void* stream, int* status, uint64_t* id), {
  return DRIVER(cuStreamGetCaptureInfo_v3)(On(stream), status, id, nullptr, nullptr, nullptr,
                                           nullptr);
})

SIM_STREAM_CALL(cudaStreamGetCaptureInfo_v2, _ptsz,
                (void* stream, int* status, uint64_t* id, void** graph, void* const** dependencies,
                 size_t* count),
                {
                  return DRIVER(cuStreamGetCaptureInfo_v3)(On(stream), status, id, graph,
                                                           dependencies, nullptr, count);
                })

SIM_STREAM_CALL(cudaStreamUpdateCaptureDependencies, _ptsz,
                (void* stream, void** dependencies, size_t count, unsigned flags), {
                  return DRIVER(cuStreamUpdateCaptureDependencies_v2)(On(stream), dependencies,
                                                                      nullptr, count, flags);
                })
#else  // CUDA 13 gave the plain names to the functions that know edges
#define SIM_WITH_EDGES(name) name
#define SIM_EDGES(name) name
#endif

#define SIM_STREAM_CALL_OF(name, ...) SIM_STREAM_CALL(name, __VA_ARGS__)

SIM_STREAM_CALL_OF(SIM_WITH_EDGES(cudaStreamGetCaptureInfo), _ptsz,
                   (void* stream, int* status, uint64_t* id, void** graph,
                    void* const** dependencies, const void** edges, size_t* count),
                   {
                     return DRIVER(cuStreamGetCaptureInfo_v3)(On(stream), status, id, graph,
                                                              dependencies, edges, count);
                   })

SIM_STREAM_CALL_OF(SIM_EDGES(cudaStreamUpdateCaptureDependencies), _ptsz,
                   (void* stream, void** dependencies, const void* edges, size_t count,
                    unsigned flags),
                   {
                     return DRIVER(cuStreamUpdateCaptureDependencies_v2)(On(stream), dependencies,
                                                                         edges, count, flags);
                   })

SIM_EXPORT int cudaThreadExchangeStreamCaptureMode(int* mode) {
  SIM_CALL({ return DRIVER(cuThreadExchangeStreamCaptureMode)(mode); });
}

SIM_EXPORT int cudaEventCreate(void** event) {
  SIM_CALL({ return DRIVER(cuEventCreate)(event, 0); });
}

SIM_EXPORT int cudaEventCreateWithFlags(void** event, unsigned flags) {
  SIM_CALL({ return DRIVER(cuEventCreate)(event, flags); });
}

SIM_EXPORT int cudaEventDestroy(void* event) {
  SIM_CALL({ return DRIVER(cuEventDestroy_v2)(event); });
}

SIM_STREAM_CALL(cudaEventRecord, _ptsz, (void* event, void* stream),
                { return DRIVER(cuEventRecord)(event, On(stream)); })

SIM_STREAM_CALL(cudaEventRecordWithFlags, _ptsz, (void* event, void* stream, unsigned flags),
                { return DRIVER(cuEventRecordWithFlags)(event, On(stream), flags); })

SIM_EXPORT int cudaEventQuery(void* event) {
  SIM_CALL({ return DRIVER(cuEventQuery)(event); });
}

SIM_EXPORT int cudaEventSynchronize(void* event) {
  SIM_CALL({ return DRIVER(cuEventSynchronize)(event); });
}

SIM_EXPORT int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  SIM_CALL({ return DRIVER(cuEventElapsedTime_v2)(milliseconds, start, end); });
}

SIM_EXPORT int cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  SIM_CALL({ return DRIVER(cuEventElapsedTime_v2)(milliseconds, start, end); });
}
