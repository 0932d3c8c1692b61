// Contexts: which one a thread works in, and the primary one of each device.
#include <unordered_map>

#include "core/context.h"
#include "core/knobs.h"
#include "core/timeline.h"
#include "driver/call.h"

namespace simcuda {
namespace {

bool IsDevice(int device) { return device >= 0 && device < DeviceCount(); }

void NotifyResource(ResourceCbid cbid, Context* context) {
  auto notify = simcuda_core()->tools.resource.load(std::memory_order_acquire);
  if (notify != nullptr) notify(cbid, context, nullptr);
}

// The device's primary context, made when first wanted.
Context* Primary(int device) {
  bool created = false;
  Context* context = nullptr;
  {
    std::lock_guard<std::mutex> guard(ModelLock());
    created = PrimaryContext(device, false) == nullptr;
    context = PrimaryContext(device, true);
  }
  if (created) NotifyResource(kContextCreated, context);
  return context;
}

int Create(void** handle, int device) {
  if (!IsDevice(device)) return kInvalidDevice;
  Context* context = nullptr;
  {
    std::lock_guard<std::mutex> guard(ModelLock());
    context = CreateContext(device);
  }
  PushContext(context);
  NotifyResource(kContextCreated, context);
  *handle = context;
  return kSuccess;
}

int Destroy(Context* context) {
  {
    std::lock_guard<std::mutex> guard(ModelLock());
    if (!IsContext(context)) return kInvalidContext;
  }
  NotifyResource(kContextDestroyStarting, context);
  if (CurrentContext() == context) PopContext();
  std::lock_guard<std::mutex> guard(ModelLock());
  DestroyContext(context);
  return kSuccess;
}

int Wait(Context* context) {
  uint64_t ready_ns = 0;
  {
    std::lock_guard<std::mutex> guard(ModelLock());
    if (context == nullptr || !IsContext(context)) return kInvalidContext;
    if (context->legacy->capture != nullptr) return kCaptureUnsupported;
    ready_ns = ReadyNs(*context);
  }
  Synchronize(kContextSync, ready_ns, *context, kNoId, kNoId);
  return kSuccess;
}

size_t& Limit(int limit) {
  static std::unordered_map<int, size_t>& limits = *new std::unordered_map<int, size_t>;
  return limits.try_emplace(limit, 1024).first->second;
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    *context = Primary(device);
    return kSuccess;
  });
}

SIM_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  SIM_CALL({ return IsDevice(device) ? kSuccess : kInvalidDevice; });
}

SIM_EXPORT int cuDevicePrimaryCtxReset_v2(int device) {
  SIM_CALL({
    Context* context = nullptr;
    {
      std::lock_guard<std::mutex> guard(ModelLock());
      context = PrimaryContext(device, false);
    }
    return context == nullptr ? kSuccess : Destroy(context);
  });
}

SIM_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    std::lock_guard<std::mutex> guard(ModelLock());
    *flags = 0;
    *active = PrimaryContext(device, false) != nullptr;
    return kSuccess;
  });
}

SIM_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
  SIM_CALL({ return IsDevice(device) ? kSuccess : kInvalidDevice; });
}

SIM_EXPORT int cuCtxCreate_v2(void** context, unsigned, int device) {
  SIM_CALL({ return Create(context, device); });
}

SIM_EXPORT int cuCtxCreate_v3(void** context, void*, int, unsigned, int device) {
  SIM_CALL({ return Create(context, device); });
}

SIM_EXPORT int cuCtxCreate_v4(void** context, void*, unsigned, int device) {
  SIM_CALL({ return Create(context, device); });
}

SIM_EXPORT int cuCtxDestroy_v2(void* context) {
  SIM_CALL({ return Destroy(static_cast<Context*>(context)); });
}

SIM_EXPORT int cuCtxGetCurrent(void** context) {
  SIM_CALL({
    *context = CurrentContext();
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxSetCurrent(void* context) {
  SIM_CALL({
    SetContext(static_cast<Context*>(context));
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxPushCurrent_v2(void* context) {
  SIM_CALL({
    if (context == nullptr) return kInvalidContext;
    PushContext(static_cast<Context*>(context));
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxPopCurrent_v2(void** context) {
  SIM_CALL({
    if (CurrentContext() == nullptr) return kInvalidContext;
    Context* popped = PopContext();
    if (context != nullptr) *context = popped;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetDevice(int* device) {
  SIM_CALL({
    if (CurrentContext() == nullptr) return kInvalidContext;
    *device = CurrentContext()->device;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetDevice_v2(int* device, void* context) {
  SIM_CALL({
    auto* wanted = context == nullptr ? CurrentContext() : static_cast<Context*>(context);
    if (wanted == nullptr) return kInvalidContext;
    *device = wanted->device;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetFlags(unsigned* flags) {
  SIM_CALL({
    *flags = 0;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetId(void* context, unsigned long long* id) {
  SIM_CALL({
    auto* wanted = context == nullptr ? CurrentContext() : static_cast<Context*>(context);
    if (wanted == nullptr) return kInvalidContext;
    *id = wanted->id;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetApiVersion(void*, unsigned* version) {
  SIM_CALL({
    *version = static_cast<unsigned>(GetKnobs().driver_version);
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetLimit(size_t* value, int limit) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    *value = Limit(limit);
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxSetLimit(int limit, size_t value) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    Limit(limit) = value;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  SIM_CALL({
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxGetCacheConfig(int* config) {
  SIM_CALL({
    *config = 0;
    return kSuccess;
  });
}

SIM_EXPORT int cuCtxSetCacheConfig(int) {
  SIM_CALL({ return kSuccess; });
}

SIM_EXPORT int cuCtxEnablePeerAccess(void* context, unsigned) {
  SIM_CALL({ return context == nullptr ? kInvalidContext : kSuccess; });
}

SIM_EXPORT int cuCtxDisablePeerAccess(void* context) {
  SIM_CALL({ return context == nullptr ? kInvalidContext : kSuccess; });
}

SIM_EXPORT int cuCtxSynchronize() {
  SIM_CALL({ return Wait(CurrentContext()); });
}

SIM_EXPORT int cuCtxSynchronize_v2(void* context) {
  SIM_CALL(
      { return Wait(context == nullptr ? CurrentContext() : static_cast<Context*>(context)); });
}
