// Streams, their synchronisation, and capture of them into graphs.
#include "core/capture.h"
#include "core/clock.h"
#include "core/timeline.h"
#include "driver/call.h"

namespace simcuda {
namespace {

int Create(void** handle, uint32_t flags, int priority) {
  Context* context = CurrentContext();
  if (context == nullptr) return kInvalidContext;
  {
    std::lock_guard<std::mutex> guard(ModelLock());
    if (!IsContext(context)) return kInvalidContext;
    *handle = CreateStream(context, flags, priority);
  }
  auto notify = simcuda_core()->tools.resource.load(std::memory_order_acquire);
  if (notify != nullptr) notify(kStreamCreated, context, *handle);
  return kSuccess;
}

bool IsDefault(void* handle) {
  return handle == nullptr || handle == kLegacyHandle || handle == kPerThreadHandle;
}

int Destroy(void* handle) {
  Context* context = nullptr;
  {
    std::lock_guard<std::mutex> guard(ModelLock());
    Stream* stream = FindStream(handle);
    if (stream == nullptr || IsDefault(handle)) return kInvalidHandle;
    if (stream->capture != nullptr) return kCaptureUnsupported;
    context = stream->context;
  }
  auto notify = simcuda_core()->tools.resource.load(std::memory_order_acquire);
  if (notify != nullptr) notify(kStreamDestroyStarting, context, handle);
  std::lock_guard<std::mutex> guard(ModelLock());
  DestroyStream(static_cast<Stream*>(handle));
  return kSuccess;
}

// Asks the stream something under the lock.
template <class Ask>
int With(void* handle, Ask ask) {
  std::lock_guard<std::mutex> guard(ModelLock());
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return kInvalidHandle;
  return ask(stream);
}

int Wait(void* handle) {
  uint64_t ready_ns = 0;
  const Context* context = nullptr;
  uint32_t id = 0;
  int status = With(handle, [&](Stream* stream) {
    if (stream->capture != nullptr) return kCaptureUnsupported;
    ready_ns = ReadyNs(*stream);
    context = stream->context;
    id = stream->id;
    return kSuccess;
  });
  if (status != kSuccess) return status;
  Synchronize(kStreamSync, ready_ns, *context, id, kNoId);
  return kSuccess;
}

int Query(void* handle) {
  return With(handle, [](Stream* stream) {
    if (stream->capture != nullptr) return kCaptureUnsupported;
    return ReadyNs(*stream) <= NowNs() ? kSuccess : kNotReady;
  });
}

int WaitEvent(void* handle, void* event) {
  Submission submission;
  Stream* stream = FindStream(handle);
  auto* wanted = static_cast<Event*>(event);
  if (stream == nullptr || !IsEvent(wanted)) return kInvalidHandle;
  return submission.WaitEvent(stream, wanted);
}

constexpr int kActive = 1;  // CUstreamCaptureStatus

int CaptureInfo(void* handle, int* status, uint64_t* id, void** graph, void* const** dependencies,
                size_t* count) {
  return With(handle, [&](Stream* stream) {
    const Capture* capture = stream->capture;
    *status = capture == nullptr ? 0 : kActive;
    if (capture == nullptr) return kSuccess;
    if (id != nullptr) *id = capture->id;
    if (graph != nullptr) *graph = capture->graph;
    if (dependencies != nullptr)
      *dependencies = reinterpret_cast<void* const*>(stream->frontier.data());
    if (count != nullptr) *count = stream->frontier.size();
    return kSuccess;
  });
}

int UpdateDependencies(void* handle, void** dependencies, size_t count, unsigned flags) {
  return With(handle, [&](Stream* stream) {
    if (stream->capture == nullptr) return static_cast<int>(kInvalidValue);
    constexpr unsigned kSet = 1;
    if (flags == kSet) stream->frontier.clear();
    auto** nodes = reinterpret_cast<GraphNode**>(dependencies);
    stream->frontier.insert(stream->frontier.end(), nodes, nodes + count);
    return static_cast<int>(kSuccess);
  });
}

int AddHostFunction(void* handle, std::function<void()> function) {
  Submission submission;
  Stream* stream = FindStream(handle);
  if (stream == nullptr) return kInvalidHandle;
  Work work;
  work.type = NodeType::kHost;
  work.operation.kind = OperationKind::kHostFunction;
  work.function = std::move(function);
  return submission.Add(stream, std::move(work));
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuStreamCreate(void** stream, unsigned flags) {
  SIM_CALL({ return Create(stream, flags, 0); });
}

SIM_EXPORT int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  SIM_CALL({ return Create(stream, flags, priority); });
}

SIM_EXPORT int cuStreamDestroy_v2(void* stream) {
  SIM_CALL({ return Destroy(stream); });
}

SIM_STREAM_CALL(cuStreamSynchronize, _ptsz, (void* stream), { return Wait(On(stream)); })

SIM_STREAM_CALL(cuStreamQuery, _ptsz, (void* stream), { return Query(On(stream)); })

SIM_STREAM_CALL(cuStreamWaitEvent, _ptsz, (void* stream, void* event, unsigned),
                { return WaitEvent(On(stream), event); })

SIM_STREAM_CALL(cuStreamGetFlags, _ptsz, (void* stream, unsigned* flags), {
  return With(On(stream), [&](Stream* found) {
    *flags = found->flags;
    return kSuccess;
  });
})

SIM_STREAM_CALL(cuStreamGetPriority, _ptsz, (void* stream, int* priority), {
  return With(On(stream), [&](Stream* found) {
    *priority = found->priority;
    return kSuccess;
  });
})

SIM_STREAM_CALL(cuStreamGetId, _ptsz, (void* stream, unsigned long long* id), {
  return With(On(stream), [&](Stream* found) {
    *id = found->id;
    return kSuccess;
  });
})

SIM_STREAM_CALL(cuStreamGetDevice, _ptsz, (void* stream, int* device), {
  return With(On(stream), [&](Stream* found) {
    *device = found->context->device;
    return kSuccess;
  });
})

SIM_STREAM_CALL(cuStreamGetCtx, _ptsz, (void* stream, void** context), {
  return With(On(stream), [&](Stream* found) {
    *context = found->context;
    return kSuccess;
  });
})

SIM_STREAM_CALL(cuLaunchHostFunc, _ptsz, (void* stream, HostFunction function, void* data),
                { return AddHostFunction(On(stream), [=] { function(data); }); })

SIM_STREAM_CALL(cuStreamAddCallback, _ptsz,
                (void* stream, void (*callback)(void*, int, void*), void* data, unsigned),
                { return AddHostFunction(On(stream), [=] { callback(stream, kSuccess, data); }); })

SIM_STREAM_CALL(cuStreamBeginCapture_v2, _ptsz, (void* stream, int), {
  return With(On(stream), [&](Stream* found) { return BeginCapture(found, nullptr, {}); });
})

SIM_STREAM_CALL(cuStreamBeginCaptureToGraph, _ptsz,
                (void* stream, void* graph, void* const* dependencies, const void*, size_t count,
                 int),
                {
                  return With(On(stream), [&](Stream* found) {
                    auto* nodes = reinterpret_cast<GraphNode* const*>(dependencies);
                    return BeginCapture(found, static_cast<Graph*>(graph), {nodes, nodes + count});
                  });
                })

SIM_STREAM_CALL(cuStreamEndCapture, _ptsz, (void* stream, void** graph), {
  return With(On(stream),
              [&](Stream* found) { return EndCapture(found, reinterpret_cast<Graph**>(graph)); });
})

SIM_STREAM_CALL(cuStreamIsCapturing, _ptsz, (void* stream, int* status),
                { return CaptureInfo(On(stream), status, nullptr, nullptr, nullptr, nullptr); })

SIM_STREAM_CALL(cuStreamGetCaptureInfo_v2, _ptsz,
                (void* stream, int* status, uint64_t* id, void** graph, void* const** dependencies,
                 size_t* count),
                { return CaptureInfo(On(stream), status, id, graph, dependencies, count); })

SIM_STREAM_CALL(cuStreamGetCaptureInfo_v3, _ptsz,
                (void* stream, int* status, uint64_t* id, void** graph, void* const** dependencies,
                 const void** edges, size_t* count),
                {
                  if (edges != nullptr) *edges = nullptr;
                  return CaptureInfo(On(stream), status, id, graph, dependencies, count);
                })

SIM_STREAM_CALL(cuStreamUpdateCaptureDependencies_v2, _ptsz,
                (void* stream, void** dependencies, const void*, size_t count, unsigned flags),
                { return UpdateDependencies(On(stream), dependencies, count, flags); })

SIM_EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  static thread_local int current = 0;
  SIM_CALL({
    std::swap(current, *mode);
    return kSuccess;
  });
}
