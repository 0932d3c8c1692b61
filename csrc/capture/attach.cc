#include "capture/attach.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "capture/activities.h"
#include "capture/api_calls.h"
#include "capture/cupti.h"
#include "capture/flusher.h"
#include "capture/note.h"
#include "runtime/rlscope.h"

extern "C" {
int __cxa_atexit(void (*)(void*), void*, void*) __attribute__((weak));
int __cxa_at_quick_exit(void (*)(void*), void*) __attribute__((weak));
}

namespace rlscope::capture {
namespace {

constexpr uint32_t kFirstKnown = 17;   // CUPTI 11.7
constexpr uint32_t kLastOfFirst = 28;  // 12.9
constexpr uint32_t kFirstOfSecond = 130000;
constexpr uint32_t kEndOfSecond = 140000;

bool IsEnv(const char* name, const char* value) {
  const char* set = base::GetEnv(name);
  return set != nullptr && strcmp(set, value) == 0;
}

bool IsKnown(uint32_t version) {
  return (version >= kFirstKnown && version <= kLastOfFirst) ||
         (version >= kFirstOfSecond && version < kEndOfSecond);
}

uint64_t ReadClock() { return static_cast<uint64_t>(base::ReadMonotonicNs()); }

const char* WhyRefused(CuptiResult result) {
  switch (result) {
    case kCuptiSubscribersNotSupported:
      return "another profiler holds CUPTI's one subscription";
    case kCuptiNotCompatible:
      return "another profiler uses CUPTI's newer interface, which excludes this one";
    case kCuptiInsufficientPrivileges:
      return "the driver lets only administrators profile (NVreg_RestrictProfilingToAdminUsers)";
    case kCuptiVirtualisedDevice:
      return "CUPTI does not work on this virtual GPU";
    case kCuptiConfidentialComputing:
      return "CUPTI does not work in confidential computing mode";
    default:
      return "CUPTI refused";
  }
}

// Kernels run beside each other as without us: never kActivityKernel, which makes them take turns.
void EnableActivities(const Cupti& cupti, Note* note) {
  static constexpr uint32_t kKinds[] = {kActivityConcurrentKernel, kActivityMemcpy,
                                        kActivityMemset,           kActivitySynchronization,
                                        kActivityMemcpyPeer,       kActivityOverhead};
  for (const uint32_t kind : kKinds) {
    const CuptiResult result = cupti.enable_activity(kind);
    if (result == kCuptiSuccess || kind != kActivityConcurrentKernel) continue;
    note->Problem("GPU work is missing", WhyRefused(result), result);
  }
  if (!IsEnv("RLSCOPE_CUDA_GRAPH_TRACE", "node")) cupti.enable_activity(kActivityGraphTrace);
}

void AtExit(void*) { EndCapture(); }

void Begin(const Cupti& cupti, CuptiSubscriber subscriber, Note* note) {
  if (!IsKnown(cupti.version)) note->Problem("unknown version of CUPTI", nullptr, 0);
  const bool own_clock =
      cupti.register_timestamp != nullptr && cupti.register_timestamp(&ReadClock) == kCuptiSuccess;
  note->Text("clock", own_clock ? "monotonic" : "realtime");
  cupti.register_buffers(&GiveBuffer, &TakeBuffer);
  EnableActivities(cupti, note);
  const bool all = IsEnv("RLSCOPE_CUDA_API", "all");
  EnableApiCallbacks(cupti, subscriber, all ? WatchedApi::kAll : WatchedApi::kChosen);
  if (!StartFlusher(&cupti)) note->Problem("no thread can be made to read GPU work", nullptr, 0);
  if (__cxa_atexit != nullptr) __cxa_atexit(&AtExit, nullptr, nullptr);
  if (__cxa_at_quick_exit != nullptr) __cxa_at_quick_exit(&AtExit, nullptr);
}

}  // namespace

void Attach() {
  if (rlscope_initialize() == RLSCOPE_OFF || IsEnv("RLSCOPE_CUDA", "off")) return;
  const int saved_errno = errno;
  Note note;
  const Cupti* cupti = LoadCupti();
  if (cupti == nullptr) {
    note.Problem("CUDA is not recorded", "no CUPTI was found", 0);
  } else {
    note.Text("library", cupti->path);
    note.Number("version", cupti->version);
    CuptiSubscriber subscriber = nullptr;
    const CuptiResult result = cupti->subscribe(&subscriber, &OnCallback, nullptr);
    if (result == kCuptiSuccess) {
      Begin(*cupti, subscriber, &note);
    } else {
      note.Problem("CUDA is not recorded", WhyRefused(result), result);
    }
  }
  note.Write();
  errno = saved_errno;
}

void EndCapture() {
  const int saved_errno = errno;
  EndFlusher();
  errno = saved_errno;
}

}  // namespace rlscope::capture
