// Events.
#include <algorithm>

#include "core/clock.h"
#include "core/timeline.h"
#include "driver/call.h"

namespace simcuda {
namespace {

constexpr uint32_t kNoTiming = 2;  // CU_EVENT_DISABLE_TIMING

int Record(void* event, void* handle) {
  Submission submission;
  Stream* stream = FindStream(handle);
  auto* wanted = static_cast<Event*>(event);
  if (stream == nullptr || !IsEvent(wanted)) return kInvalidHandle;
  submission.Record(wanted, stream);
  return kSuccess;
}

// A copy of the event, so that no thread waits under the lock.
int Read(void* event, Event* copy) {
  std::lock_guard<std::mutex> guard(ModelLock());
  auto* wanted = static_cast<Event*>(event);
  if (!IsEvent(wanted)) return kInvalidHandle;
  if (wanted->capture != nullptr) return kCapturedEvent;
  *copy = *wanted;
  return kSuccess;
}

int Wait(void* handle) {
  Event event{};
  int status = Read(handle, &event);
  if (status == kSuccess) Synchronize(kEventSync, event.time_ns, *event.context, kNoId, event.id);
  return status;
}

int Elapsed(float* milliseconds, void* start, void* end) {
  Event first{};
  Event second{};
  int status = std::max(Read(start, &first), Read(end, &second));
  if (status != kSuccess) return status;
  if (((first.flags | second.flags) & kNoTiming) != 0 || first.time_ns == 0 ||
      second.time_ns == 0) {
    return kInvalidHandle;
  }
  if (std::max(first.time_ns, second.time_ns) > NowNs()) return kNotReady;
  // Events are stamped by the GPU's clock.
  auto elapsed_ns =
      static_cast<int64_t>(DeviceClockNs(second.time_ns) - DeviceClockNs(first.time_ns));
  *milliseconds = static_cast<float>(static_cast<double>(elapsed_ns) * 1e-6);
  return kSuccess;
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuEventCreate(void** event, unsigned flags) {
  SIM_CALL({
    if (CurrentContext() == nullptr) return kInvalidContext;
    std::lock_guard<std::mutex> guard(ModelLock());
    *event = CreateEvent(CurrentContext(), flags);
    return kSuccess;
  });
}

SIM_EXPORT int cuEventDestroy_v2(void* event) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    if (!IsEvent(static_cast<Event*>(event))) return kInvalidHandle;
    DestroyEvent(static_cast<Event*>(event));
    return kSuccess;
  });
}

SIM_STREAM_CALL(cuEventRecord, _ptsz, (void* event, void* stream),
                { return Record(event, On(stream)); })

SIM_STREAM_CALL(cuEventRecordWithFlags, _ptsz, (void* event, void* stream, unsigned),
                { return Record(event, On(stream)); })

SIM_EXPORT int cuEventQuery(void* event) {
  SIM_CALL({
    Event copy{};
    int status = Read(event, &copy);
    if (status != kSuccess) return status;
    return copy.time_ns <= NowNs() ? kSuccess : kNotReady;
  });
}

SIM_EXPORT int cuEventSynchronize(void* event) {
  SIM_CALL({ return Wait(event); });
}

SIM_EXPORT int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  SIM_CALL({ return Elapsed(milliseconds, start, end); });
}

SIM_EXPORT int cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  SIM_CALL({ return Elapsed(milliseconds, start, end); });
}
