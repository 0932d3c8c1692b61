#include "cupti/callbacks.h"

#include <string.h>

#include "cupti/activities.h"
#include "cupti/flusher.h"
#include "cupti/gaps.h"
#include "cupti/gpu_window.h"
#include "cupti/subscription.h"
#include "runtime/cuda_call.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::cupti {
namespace {

constexpr uint32_t kMostIds = 2048;
uint32_t names[2][kMostIds];  // name ids by domain and callback id; 0: not known yet

uint32_t LearnName(uint32_t* known, const char* function) {
  const uint32_t id = rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kCudaCallName), 0,
                                          function, strlen(function));
  __atomic_store_n(known, id, __ATOMIC_RELAXED);
  NoticeFunction(function);
  return id;
}

uint32_t NameOf(uint32_t domain, uint32_t id, const char* function) {
  if (id >= kMostIds || function == nullptr) return 0;
  uint32_t* known = &names[domain - kDriverApi][id];
  const uint32_t name = __atomic_load_n(known, __ATOMIC_RELAXED);
  return __builtin_expect(name != 0, 1) ? name : LearnName(known, function);
}

template <size_t count>
bool IsAmong(const uint16_t (&ids)[count], uint32_t id) {
  for (const uint16_t each : ids) {
    if (each == id) return true;
  }
  return false;
}

// Calls that return when work is done, which leaves a record: Synchronize of a stream, an event, a
// context, a device or a thread, and the blocking copies, those for per-thread default streams
// among them.
bool IsSynchronization(uint32_t domain, uint32_t id) {
  constexpr uint16_t kRuntime[] = {165, 126, 534, 131, 239, 137, 31, 215};
  constexpr uint16_t kDriver[] = {17, 800, 126, 440, 121, 276, 397, 278, 398};
  return domain == kDriverApi ? IsAmong(kDriver, id) : IsAmong(kRuntime, id);
}

// LaunchKernel, LaunchKernelExC and __cudaLaunchKernel; LaunchKernel and LaunchKernelEx.
bool IsLaunch(uint32_t domain, uint32_t id) {
  constexpr uint16_t kRuntime[] = {211, 214, 430, 431, 505, 506};
  constexpr uint16_t kDriver[] = {307, 442, 652, 653};
  return domain == kDriverApi ? IsAmong(kDriver, id) : IsAmong(kRuntime, id);
}

// The runtime's StreamBeginCapture, BeginCaptureToGraph and BeginRecaptureToGraph;
// StreamEndCapture.
bool BeginsCapture(uint32_t id) {
  constexpr uint16_t kRuntime[] = {315, 316, 452, 453, 562, 563};
  return IsAmong(kRuntime, id);
}
bool EndsCapture(uint32_t id) {
  constexpr uint16_t kRuntime[] = {319, 320};
  return IsAmong(kRuntime, id);
}

uint32_t StatusOf(const CallbackData& data) {
  return data.return_value == nullptr ? 0 : static_cast<uint32_t>(*data.return_value);
}

__attribute__((noinline)) void AfterCall(uint32_t domain, uint32_t id, const CallbackData& data) {
  if (StatusOf(data) != 0) return;
  if (IsLaunch(domain, id)) NoticeLaunch();
  if (!IsSynchronization(domain, id)) return;
  NoticeSynchronization(*data.correlation_data - 1);
  FlushAtSynchronization();
}

// What the program asked of this stream is done. CUPTI may be ended: the end of a call around this
// one would be lost.
__attribute__((noinline)) void AfterWait(uint32_t domain, uint32_t id, const CallbackData& data) {
  const bool has_waited = StatusOf(data) == 0 && IsSynchronization(domain, id);
  if (has_waited && !runtime::IsInCudaCall()) NoticeWait();
}

__attribute__((noinline)) void FollowCapture(uint32_t id, const CallbackData& data) {
  if (BeginsCapture(id) && StatusOf(data) == 0) NoticeCapture(true);
  if (EndsCapture(id)) NoticeCapture(false);
}

// Begin and end are functions of their own, and the last thing that OnCallback() does: a call that
// is not recorded saves no registers for either.

// `kept` is what CUPTI keeps for us from enter to exit. 0: the call was not begun, there is nothing
// to end.
__attribute__((noinline)) void BeginCall(const CallbackData& data) {
  NoticeCall(data.correlation_id);
  *data.correlation_data = runtime::BeginCudaCall() ? RecordsRead() + 1 : 0;
}

__attribute__((noinline)) void EndCall(uint32_t domain, uint32_t id, const CallbackData* data) {
  const auto name = [=] { return NameOf(domain, id, data->function_name); };
  runtime::EndCudaCall(name, CallNumber(data->correlation_id), data->context_id, StatusOf(*data));
  if (__builtin_expect(AwaitsSynchronization(), 0)) AfterCall(domain, id, *data);
  if (__builtin_expect(gpu_window.are_used, 0) && domain == kRuntimeApi) FollowCapture(id, *data);
  if (__builtin_expect(AwaitsWait(), 0)) AfterWait(domain, id, *data);
}

}  // namespace

void OnCallback(void*, uint32_t domain, uint32_t id, const CallbackData* data) {
  if (domain == kRuntimeApi || domain == kDriverApi) {
    if (data->site == kEnter) {
      BeginCall(*data);
    } else if (*data->correlation_data != 0) {
      EndCall(domain, id, data);
    }
  } else if (domain == kResource && id == kModuleUnloadStarting) {
    ForgetKernelNames();
  }
}

}  // namespace rlscope::cupti
