// The C interface: activity records.
#include "core/interface.h"
#include "cupti/activities.h"
#include "cupti/buffers.h"
#include "cupti/records.h"
#include "cupti/settings.h"
#include "cupti/status.h"
#include "cupti/subscriber.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

int LegacyUsable() {
  int status = Usable();
  return status == kCuptiSuccess ? UseFamily(Family::kLegacy) : status;
}

int SwitchKind(uint32_t kind, bool enable) {
  int status = LegacyUsable();
  if (status != kCuptiSuccess) return status;
  if (enable && GetSettings().enable_status != 0) return GetSettings().enable_status;
  Attach();
  return EnableKind(kind, enable);
}

int SwitchApi(Domain domain, uint32_t cbid, bool enable) {
  int status = LegacyUsable();
  if (status != kCuptiSuccess) return status;
  Attach();
  return EnableApiRecord(domain, cbid, enable);
}

int SubscriberFamily() {
  int status = Usable();
  if (status == kCuptiSuccess) status = UseFamily(Family::kSubscriber);
  return status == kCuptiSuccess ? kCuptiNotSupported : status;
}

constexpr uint32_t kPerThreadBuffers =
    9;  // CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, since 12.3

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuptiActivityRegisterCallbacks(BufferRequested requested,
                                              BufferCompleted completed) {
  int status = UseFamily(Family::kLegacy);
  return status == kCuptiSuccess ? SetBufferFunctions(requested, completed) : status;
}

SIM_EXPORT int cuptiActivityRegisterTimestampCallback(TimestampFunction function) {
  int status = LegacyUsable();
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
  int status = LegacyUsable();
  if (status != kCuptiSuccess) return status;
  if (!HaveBufferFunctions()) return kCuptiInvalidOperation;
  Flush((flag & 1) != 0);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityFlushPeriod(uint32_t milliseconds) {
  SetFlushPeriod(milliseconds);
  return kCuptiSuccess;
}

// Records follow each other; `*record` is null for the first.
SIM_EXPORT int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  if (buffer == nullptr || record == nullptr) return kCuptiInvalidParameter;
  uint8_t* next =
      *record == nullptr ? buffer : *record + RecordBytes(*reinterpret_cast<uint32_t*>(*record));
  if (next >= buffer + valid) return kCuptiMaxLimitReached;
  if (RecordBytes(*reinterpret_cast<uint32_t*>(next)) == 0) return kCuptiInvalidKind;
  *record = next;
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return kCuptiInvalidParameter;
  *dropped = TakeDroppedRecords();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  if (bytes == nullptr || value == nullptr) return kCuptiInvalidParameter;
  if (attribute == kPerThreadBuffers) SetPerThreadBuffers(*static_cast<uint8_t*>(value) != 0);
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityGetAttribute(uint32_t attribute, size_t* bytes, void* value) {
  if (bytes == nullptr || value == nullptr) return kCuptiInvalidParameter;
  if (attribute != kPerThreadBuffers) return kCuptiNotSupported;
  *bytes = 1;
  *static_cast<uint8_t*>(value) = PerThreadBuffers();
  return kCuptiSuccess;
}

SIM_EXPORT int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
  int status = LegacyUsable();
  return status == kCuptiSuccess ? PushExternalId(kind, id) : status;
}

SIM_EXPORT int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t* last) {
  int status = LegacyUsable();
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
