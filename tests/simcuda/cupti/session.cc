// The C interface: subscription, callbacks, versions and names.
#include <cstring>

#include "core/interface.h"
#include "cupti/activities.h"
#include "cupti/settings.h"
#include "cupti/status.h"
#include "cupti/subscriber.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

// CUpti_SubscriberParams.
struct SubscriberParameters {
  size_t bytes;
  const char* name;
  char* old_name;
  size_t old_name_bytes;
};

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
};

constexpr ResultName kResultNames[] = {
    {kCuptiSuccess, "CUPTI_SUCCESS"},
    {kCuptiInvalidParameter, "CUPTI_ERROR_INVALID_PARAMETER"},
    {kCuptiInvalidOperation, "CUPTI_ERROR_INVALID_OPERATION"},
    {kCuptiMaxLimitReached, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
    {kCuptiNotCompatible, "CUPTI_ERROR_NOT_COMPATIBLE"},
    {kCuptiNotInitialized, "CUPTI_ERROR_NOT_INITIALIZED"},
    {kCuptiQueueEmpty, "CUPTI_ERROR_QUEUE_EMPTY"},
    {kCuptiInvalidKind, "CUPTI_ERROR_INVALID_KIND"},
    {kCuptiNotSupported, "CUPTI_ERROR_NOT_SUPPORTED"},
    {kCuptiInsufficientPrivileges, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {kCuptiMultipleSubscribers, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {kCuptiUnknown, "CUPTI_ERROR_UNKNOWN"},
};

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return kCuptiInvalidParameter;
  *version = GetSettings().version->number;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetResultString(int status, const char** name) {
  for (const ResultName& row : kResultNames) {
    if (row.status == status) return *name = row.name, kCuptiSuccess;
  }
  return kCuptiInvalidParameter;
}

SIM_EXPORT int cuptiGetErrorMessage(int status, const char** message) {
  return cuptiGetResultString(status, message);
}

SIM_EXPORT int cuptiSubscribe(Subscriber** subscriber, CuptiCallback callback, void* user_data) {
  int status = Usable();
  if (status == kCuptiSuccess) status = UseFamily(Family::kLegacy);
  return status == kCuptiSuccess ? Subscribe(subscriber, callback, user_data, nullptr) : status;
}

SIM_EXPORT int cuptiSubscribe_v2(Subscriber** subscriber, CuptiCallback callback, void* user_data,
                                 const SubscriberParameters* parameters) {
  int status = Usable();
  if (status == kCuptiSuccess) status = UseFamily(Family::kSubscriber);
  if (status != kCuptiSuccess) return status;
  status = Subscribe(subscriber, callback, user_data,
                     parameters == nullptr ? nullptr : parameters->name);
  if (status == kCuptiMultipleSubscribers && parameters != nullptr) CopyOldName(*parameters);
  return status;
}

SIM_EXPORT int cuptiUnsubscribe(Subscriber* subscriber) {
  int status = Usable();
  return status == kCuptiSuccess ? Unsubscribe(subscriber) : status;
}

SIM_EXPORT int cuptiEnableCallback(uint32_t enable, Subscriber* subscriber, uint32_t domain,
                                   uint32_t cbid) {
  int status = Usable();
  return status == kCuptiSuccess ? EnableCallback(subscriber, domain, cbid, enable != 0) : status;
}

SIM_EXPORT int cuptiEnableDomain(uint32_t enable, Subscriber* subscriber, uint32_t domain) {
  if (subscriber == nullptr) return kCuptiInvalidParameter;
  int status = Usable();
  return status == kCuptiSuccess ? EnableDomain(subscriber, domain, enable != 0) : status;
}

SIM_EXPORT int cuptiEnableAllDomains(uint32_t enable, Subscriber* subscriber) {
  int status = Usable();
  for (uint32_t domain = 1; domain < 7 && status == kCuptiSuccess; ++domain) {
    status = EnableDomain(subscriber, domain, enable != 0);
  }
  return status;
}

SIM_EXPORT int cuptiGetCallbackState(uint32_t* enabled, Subscriber* subscriber, uint32_t domain,
                                     uint32_t cbid) {
  int status = Usable();
  return status == kCuptiSuccess ? CallbackState(enabled, subscriber, domain, cbid) : status;
}

// Works without a driver, as in CUPTI.
SIM_EXPORT int cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return kCuptiInvalidParameter;
  *timestamp = CpuTimestamp();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetStreamIdEx(void*, void* stream, uint8_t, uint32_t* id) {
  int status = Usable();
  if (status == kCuptiSuccess) *id = FindCore()->stream_id(stream);
  return status;
}

SIM_EXPORT int cuptiGetStreamId(void*, void* stream, uint32_t* id) {
  int status = Usable();
  if (status == kCuptiSuccess) *id = FindCore()->stream_id(stream);
  return status;
}

SIM_EXPORT int cuptiGetContextId(void* context, uint32_t* id) {
  int status = Usable();
  if (status == kCuptiSuccess) *id = FindCore()->context_id(context);
  return status;
}

SIM_EXPORT int cuptiSetThreadIdType(uint32_t type) {
  if (type > 1) return kCuptiNotSupported;
  SetThreadIdType(type);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiGetThreadIdType(uint32_t* type) {
  *type = ThreadIdType();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiSupportedDomains(size_t* count, const uint32_t** domains) {
  static constexpr uint32_t kAll[] = {1, 2, 3, 4, 5, 6};
  *count = 6;
  *domains = kAll;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiFinalize() {
  if (Usable() == kCuptiSuccess) Detach();
  return kCuptiSuccess;
}
