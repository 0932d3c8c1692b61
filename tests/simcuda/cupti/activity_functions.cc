// The C interface: activity records.
#include "core/interface.h"
#include "cupti/activities.h"
#include "cupti/buffers.h"
#include "cupti/connection.h"
#include "cupti/records.h"
#include "cupti/settings.h"
#include "cupti/status.h"
#include "cupti/subscriber.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

// The family of functions that name no subscriber, and the driver.
int ConnectAsLegacy() {
  SIM_CONNECT();
  return UseFamily(Family::kLegacy);
}

constexpr uint32_t k12_2 = 20;  // numbers of releases
constexpr uint32_t k12_4 = 22;
constexpr uint32_t k12_5 = 23;

int SwitchKind(uint32_t kind, bool enable) {
  SIM_ENTER();
  const bool asks_kind_first = GetSettings().version->number < k12_2;
  if (asks_kind_first && IsNeverEnabled(kind)) return kCuptiInvalidKind;
  int status = ConnectAsLegacy();
  if (status != kCuptiSuccess) return status;
  if (enable && GetSettings().enable_status != 0) return GetSettings().enable_status;
  Attach();
  if (enable) AttachRecords();
  return EnableKind(kind, enable);
}

int SwitchApi(Domain domain, uint32_t cbid, bool enable) {
  int status = ConnectAsLegacy();
  if (status != kCuptiSuccess) return status;
  Attach();
  return EnableApiRecord(domain, cbid, enable);
}

int SubscriberFamily() {
  SIM_CONNECT();
  int status = UseFamily(Family::kSubscriber);
  return status == kCuptiSuccess ? kCuptiNotSupported : status;
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuptiActivityRegisterCallbacks(BufferRequested requested,
                                              BufferCompleted completed) {
  SIM_ENTER();
  int status = IsDriverPresent() ? ConnectAsLegacy() : kCuptiSuccess;
  return status == kCuptiSuccess ? SetBufferFunctions(requested, completed) : status;
}

SIM_EXPORT int cuptiActivityRegisterTimestampCallback(TimestampFunction function) {
  SIM_ENTER();
  if (function == nullptr) return kCuptiInvalidParameter;
  int status = ConnectAsLegacy();
  return status == kCuptiSuccess ? SetTimestampFunction(function) : status;
}

SIM_EXPORT int cuptiActivityEnable(uint32_t kind) { return SwitchKind(kind, true); }
SIM_EXPORT int cuptiActivityDisable(uint32_t kind) { return SwitchKind(kind, false); }
SIM_EXPORT int cuptiActivityEnableContext(void*, uint32_t kind) { return SwitchKind(kind, true); }
SIM_EXPORT int cuptiActivityDisableContext(void*, uint32_t kind) { return SwitchKind(kind, false); }

SIM_EXPORT int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable) {
  return SwitchApi(kRuntime, cbid, enable != 0);
}

SIM_EXPORT int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable) {
  return SwitchApi(kDriver, cbid, enable != 0);
}

SIM_EXPORT int cuptiActivityFlushAll(uint32_t flag) {
  int status = ConnectAsLegacy();
  if (status != kCuptiSuccess) return status;
  if (!HaveBufferFunctions()) return kCuptiInvalidOperation;
  Attach();
  Flush((flag & 1) != 0);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityFlushPeriod(uint32_t milliseconds) {
  SIM_ENTER();
  SetFlushPeriod(milliseconds);
  return kCuptiSuccess;
}

// Records follow each other; `*record` is null for the first.
SIM_EXPORT int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  SIM_ENTER();
  if (buffer == nullptr || record == nullptr) return kCuptiInvalidParameter;
  uint8_t* next =
      *record == nullptr ? buffer : *record + RecordBytes(*reinterpret_cast<uint32_t*>(*record));
  if (next >= buffer + valid) return kCuptiMaxLimitReached;
  if (RecordBytes(*reinterpret_cast<uint32_t*>(next)) == 0) {
    return GetSettings().version->number < k12_4 ? kCuptiUnknown : kCuptiInvalidKind;
  }
  *record = next;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  SIM_ENTER();
  if (dropped == nullptr) return kCuptiInvalidParameter;
  if (GetSettings().version->number < k12_5) SIM_CONNECT();
  *dropped = TakeDroppedRecords();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  SIM_ENTER();
  if (bytes == nullptr || value == nullptr) return kCuptiInvalidParameter;
  if (attribute == kPerThreadBuffers) SetPerThreadBuffers(*static_cast<uint8_t*>(value) != 0);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityGetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  SIM_ENTER();
  if (bytes == nullptr || value == nullptr) return kCuptiInvalidParameter;
  if (attribute != kPerThreadBuffers) return kCuptiNotSupported;
  *bytes = 1;
  *static_cast<uint8_t*>(value) = PerThreadBuffers();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
  int status = ConnectAsLegacy();
  return status == kCuptiSuccess ? PushExternalId(kind, id) : status;
}

SIM_EXPORT int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* last) {
  int status = ConnectAsLegacy();
  return status == kCuptiSuccess ? PopExternalId(kind, last) : status;
}

// The family that names its subscriber is here to be met, not to be traced with: after the other
// family it answers that the two are not compatible, and else that it is not supported.
SIM_EXPORT int cuptiActivityEnable_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityDisable_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityRegisterCallbacks_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityEnableAndDump_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityGetAttribute_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivitySetAttribute_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityEnableDriverApi_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityEnableRuntimeApi_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityPushExternalCorrelationId_v2() { return SubscriberFamily(); }
SIM_EXPORT int cuptiActivityPopExternalCorrelationId_v2() { return SubscriberFamily(); }
