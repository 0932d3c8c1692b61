// The C interface: subscription, callbacks, versions and names.
#include <cstring>

#include "core/interface.h"
#include "cupti/activities.h"
#include "cupti/callback_data.h"
#include "cupti/connection.h"
#include "cupti/settings.h"
#include "cupti/status.h"
#include "cupti/subscriber.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

void ClearOldName(const SubscriberParameters* parameters) {
  if (parameters == nullptr || parameters->old_name == nullptr) return;
  if (parameters->old_name_bytes != 0) parameters->old_name[0] = '\0';
}

void CopyOldName(const SubscriberParameters& parameters) {
  if (parameters.old_name == nullptr || parameters.old_name_bytes == 0) return;
  const std::string given = SubscriberName();
  const std::string name = given.empty() ? "<not provided>" : "CUPTI for " + given;
  strncpy(parameters.old_name, name.c_str(), parameters.old_name_bytes - 1);
  parameters.old_name[parameters.old_name_bytes - 1] = '\0';
}

struct ResultName {
  int status;
  const char* name;
  uint32_t since;  // number of the release
};

// CUptiResult. NVIDIA's libraries have no names for 36 and 37.
constexpr ResultName kResultNames[] = {
    {0, "CUPTI_SUCCESS", 0},
    {1, "CUPTI_ERROR_INVALID_PARAMETER", 0},
    {2, "CUPTI_ERROR_INVALID_DEVICE", 0},
    {3, "CUPTI_ERROR_INVALID_CONTEXT", 0},
    {4, "CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID", 0},
    {5, "CUPTI_ERROR_INVALID_EVENT_ID", 0},
    {6, "CUPTI_ERROR_INVALID_EVENT_NAME", 0},
    {7, "CUPTI_ERROR_INVALID_OPERATION", 0},
    {8, "CUPTI_ERROR_OUT_OF_MEMORY", 0},
    {9, "CUPTI_ERROR_HARDWARE", 0},
    {10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", 0},
    {11, "CUPTI_ERROR_API_NOT_IMPLEMENTED", 0},
    {12, "CUPTI_ERROR_MAX_LIMIT_REACHED", 0},
    {13, "CUPTI_ERROR_NOT_READY", 0},
    {14, "CUPTI_ERROR_NOT_COMPATIBLE", 0},
    {15, "CUPTI_ERROR_NOT_INITIALIZED", 0},
    {16, "CUPTI_ERROR_INVALID_METRIC_ID", 0},
    {17, "CUPTI_ERROR_INVALID_METRIC_NAME", 0},
    {18, "CUPTI_ERROR_QUEUE_EMPTY", 0},
    {19, "CUPTI_ERROR_INVALID_HANDLE", 0},
    {20, "CUPTI_ERROR_INVALID_STREAM", 0},
    {21, "CUPTI_ERROR_INVALID_KIND", 0},
    {22, "CUPTI_ERROR_INVALID_EVENT_VALUE", 0},
    {23, "CUPTI_ERROR_DISABLED", 0},
    {24, "CUPTI_ERROR_INVALID_MODULE", 0},
    {25, "CUPTI_ERROR_INVALID_METRIC_VALUE", 0},
    {26, "CUPTI_ERROR_HARDWARE_BUSY", 0},
    {27, "CUPTI_ERROR_NOT_SUPPORTED", 0},
    {28, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED", 0},
    {29, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE", 0},
    {30, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES", 0},
    {31, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS", 0},
    {32, "CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED", 0},
    {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED", 0},
    {34, "CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE", 0},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", 0},
    {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED", 0},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", 0},
    {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES", 0},
    {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED", 0},
    {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED", 0},
    {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", 26},
    {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", 26},
    {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED", 26},
    {46, "CUPTI_ERROR_INVALID_CHIP_NAME", 130000},
    {999, "CUPTI_ERROR_UNKNOWN", 0},
};

const char* NameOfResult(int status) {
  for (const ResultName& row : kResultNames) {
    if (row.status == status && GetSettings().version->number >= row.since) return row.name;
  }
  return nullptr;
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuptiGetVersion(uint32_t* version) {
  SIM_ENTER();
  if (version == nullptr) return kCuptiInvalidParameter;
  *version = GetSettings().version->number;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetResultString(int status, const char** name) {
  SIM_ENTER();
  const char* known = NameOfResult(status);
  *name = known == nullptr ? "<unknown>" : known;
  return known == nullptr ? kCuptiInvalidParameter : kCuptiSuccess;
}

// NVIDIA's says more of some.
SIM_EXPORT int cuptiGetErrorMessage(int status, const char** message) {
  SIM_ENTER();
  const char* known = NameOfResult(status);
  *message = known == nullptr ? "<unknown>" : known;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiSubscribe(Subscriber** subscriber, CuptiCallback callback, void* user_data) {
  SIM_CONNECT();
  int status = UseFamily(Family::kLegacy);
  return status == kCuptiSuccess ? Subscribe(subscriber, callback, user_data, nullptr) : status;
}

SIM_EXPORT int cuptiSubscribe_v2(Subscriber** subscriber, CuptiCallback callback, void* user_data,
                                 const SubscriberParameters* parameters) {
  SIM_ENTER();
  ClearOldName(parameters);
  SIM_CONNECT();
  int status = UseFamily(Family::kSubscriber);
  if (status != kCuptiSuccess) return status;
  status = Subscribe(subscriber, callback, user_data,
                     parameters == nullptr ? nullptr : parameters->name);
  if (status == kCuptiMultipleSubscribers && parameters != nullptr) CopyOldName(*parameters);
  return status;
}

SIM_EXPORT int cuptiUnsubscribe(Subscriber* subscriber) {
  SIM_ENTER();
  if (subscriber == nullptr) return kCuptiInvalidParameter;
  SIM_CONNECT();
  return Unsubscribe(subscriber);
}

SIM_EXPORT int cuptiEnableCallback(uint32_t enable, Subscriber* subscriber, uint32_t domain,
                                   uint32_t cbid) {
  SIM_ENTER();
  if (subscriber == nullptr) return kCuptiInvalidParameter;
  SIM_CONNECT();
  return EnableCallback(subscriber, domain, cbid, enable != 0);
}

SIM_EXPORT int cuptiEnableDomain(uint32_t enable, Subscriber* subscriber, uint32_t domain) {
  SIM_ENTER();
  ExpectTry();
  if (subscriber == nullptr) return kCuptiInvalidParameter;
  SIM_CONNECT();
  return EnableDomain(subscriber, domain, enable != 0);
}

SIM_EXPORT int cuptiEnableAllDomains(uint32_t enable, Subscriber* subscriber) {
  SIM_CONNECT();
  int status = kCuptiSuccess;
  for (uint32_t domain = 1; domain < 7 && status == kCuptiSuccess; ++domain) {
    status = EnableDomain(subscriber, domain, enable != 0);
  }
  return status;
}

SIM_EXPORT int cuptiGetCallbackState(uint32_t* enabled, Subscriber* subscriber, uint32_t domain,
                                     uint32_t cbid) {
  SIM_CONNECT();
  return CallbackState(enabled, subscriber, domain, cbid);
}

SIM_EXPORT int cuptiGetTimestamp(uint64_t* timestamp) {
  SIM_ENTER();
  if (timestamp == nullptr) return kCuptiInvalidParameter;
  *timestamp = CpuTimestamp();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetStreamIdEx(void*, void* stream, uint8_t, uint32_t* id) {
  SIM_CONNECT();
  *id = FindCore()->stream_id(stream);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetStreamId(void*, void* stream, uint32_t* id) {
  SIM_CONNECT();
  *id = FindCore()->stream_id(stream);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetContextId(void* context, uint32_t* id) {
  SIM_CONNECT();
  *id = FindCore()->context_id(context);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiSetThreadIdType(uint32_t type) {
  SIM_ENTER();
  if (type > 1) return kCuptiNotSupported;
  SetThreadIdType(type);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetThreadIdType(uint32_t* type) {
  SIM_ENTER();
  *type = ThreadIdType();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiSupportedDomains(size_t* count, const uint32_t** domains) {
  SIM_ENTER();
  static constexpr uint32_t kAll[] = {1, 2, 3, 4, 5, 6};
  *count = 6;
  *domains = kAll;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiFinalize() {
  SIM_ENTER();
  ExpectTry();
  if (Connect() == kCuptiSuccess) Detach();
  return kCuptiSuccess;
}
