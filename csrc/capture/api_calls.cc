#include "capture/api_calls.h"

#include <string.h>

#include "capture/activities.h"
#include "capture/flusher.h"
#include "capture/gaps.h"
#include "runtime/cuda_call.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::capture {
namespace {

// Callback ids are only ever added: none of those of 17 releases of CUPTI changed its number. Of
// most functions two are beside each other, the second for per-thread default streams. A comment
// says what the names of its line's functions begin with, after cuda or cu: a test compares them.
struct Ids {
  uint16_t first, last;
};
constexpr Ids kRuntimeIds[] = {
    {20, 27},   {140, 141},              // Malloc, Free, HostAlloc
    {192, 192}, {194, 194},              // MallocMipmappedArray, FreeMipmappedArray
    {31, 52},   {142, 145},              // Memcpy, Memset
    {152, 153}, {206, 206},              // HostRegister, HostUnregister, MallocManaged
    {160, 165},                          // Memcpy, DeviceReset, DeviceSynchronize
    {215, 236}, {243, 246}, {249, 250},  // Memcpy, Memset
    {252, 253}, {449, 450}, {487, 488},  // MemPrefetch
    {491, 492},                          // MemDiscardAndPrefetch
    {211, 211}, {214, 214}, {430, 431},  // LaunchKernel
    {505, 506},                          // LaunchKernel (__cuda: launch stubs from CUDA 13 on)
    {269, 270}, {272, 272}, {284, 285},  // LaunchCooperativeKernel, LaunchHostFunc
    {550, 551},                          // LaunchHostFunc
    {310, 312}, {418, 418}, {436, 437}, {443, 443},  // GraphInstantiate, GraphLaunch
    {335, 335}, {348, 349},                          // GraphExecUpdate, GraphUpload
    {315, 316}, {319, 320}, {452, 453},              // StreamBeginCapture, StreamEndCapture
    {562, 563},                                      // StreamBeginRecapture
    {373, 376}, {391, 392},                          // Malloc, Free
    {482, 485}, {509, 512}, {554, 557},              // Memcpy
    {129, 129}, {198, 198}, {202, 202},              // StreamCreate
    {131, 132}, {239, 240}, {147, 147}, {247, 247},  // StreamSynchronize, StreamQuery, StreamWait
    {135, 135}, {137, 138}, {242, 242}, {370, 371},  // EventRecord, EventSynchronize, EventQuery
    {126, 126}, {470, 471},                          // ThreadSynchronize, LibraryLoad
    {533, 534}, {543, 544},                          // ExecutionCtx
};
constexpr Ids kDriverIds[] = {
    {307, 307}, {442, 442}, {652, 653},              // LaunchKernel
    {477, 478}, {480, 480}, {527, 528}, {831, 832},  // LaunchCooperativeKernel, LaunchHostFunc
    {513, 515}, {578, 578}, {643, 643}, {656, 657},  // GraphInstantiate, GraphLaunch
    {561, 561}, {696, 696}, {580, 581},              // GraphExecUpdate, GraphUpload
    {276, 293}, {305, 306}, {318, 321}, {248, 248},  // Memcpy
    {397, 410}, {418, 427}, {776, 779}, {796, 799},  // Memcpy
    {837, 840}, {294, 294},                          // Memcpy, MemAllocHost
    {216, 216}, {218, 218}, {220, 220}, {222, 222},  // Memset
    {224, 224}, {226, 226}, {249, 254}, {411, 416},  // Memset
    {428, 433}, {467, 468}, {716, 717}, {784, 785},  // Memset, MemPrefetch
    {791, 792},                                      // MemDiscardAndPrefetch
    {243, 245}, {371, 371}, {598, 601}, {611, 612},  // MemAlloc, MemFree
    {38, 39},   {271, 271}, {301, 302}, {379, 379},  // MemFreeHost, MemHost
    {547, 550},                                      // MemAddress, MemCreate, MemRelease
    {551, 553},                                      // MemMap, MemUnmap, MemSetAccess
    {124, 124}, {367, 367}, {758, 758},              // StreamCreate, GreenCtxStreamCreate
    {125, 126}, {439, 440}, {295, 295}, {436, 436},  // StreamQuery, StreamSynchronize, StreamWait
    {17, 17},   {800, 800},                          // CtxSynchronize
    {119, 121}, {441, 441}, {587, 588},              // EventRecord, EventQuery, EventSynchronize
    {755, 756},                                      // CtxRecordEvent, CtxWaitEvent
    {749, 750},                                      // GreenCtxRecordEvent, GreenCtxWaitEvent
    {18, 21},   {678, 679}, {742, 742},              // ModuleLoad, LibraryLoad, FuncLoad
};

constexpr uint32_t kMostIds = 2048;
uint32_t names[2][kMostIds];  // name ids by domain and callback id; 0: not known yet

uint32_t LearnName(uint32_t* known, const char* function) {
  const uint32_t id = rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kCudaCallName), 0,
                                          function, strlen(function));
  __atomic_store_n(known, id, __ATOMIC_RELAXED);
  return id;
}

uint32_t NameOf(uint32_t domain, uint32_t id, const char* function) {
  if (id >= kMostIds || function == nullptr) return 0;
  uint32_t* known = &names[domain - kDriverApi][id];
  const uint32_t name = __atomic_load_n(known, __ATOMIC_RELAXED);
  return __builtin_expect(name != 0, 1) ? name : LearnName(known, function);
}

void Switch(const Cupti& cupti, CuptiSubscriber subscriber, CallbackDomain domain, Ids ids,
            bool on) {
  for (uint32_t id = ids.first; id <= ids.last; id++) {
    cupti.enable_callback(on, subscriber, domain, id);
  }
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

// Begin and end are functions of their own, and the last thing that OnCallback() does: a call that
// is not recorded saves no registers for either.

// `kept` is what CUPTI keeps for us from enter to exit. 0: the call was not begun, there is nothing
// to end.
__attribute__((noinline)) void BeginCall(uint64_t* kept) {
  *kept = runtime::BeginCudaCall() ? RecordsRead() + 1 : 0;
}

__attribute__((noinline)) void EndCall(uint32_t domain, uint32_t id, const CallbackData* data) {
  const auto name = [=] { return NameOf(domain, id, data->function_name); };
  runtime::EndCudaCall(name, data->correlation_id, data->context_id, StatusOf(*data));
  if (__builtin_expect(AwaitsSynchronization(), 0)) AfterCall(domain, id, *data);
}

}  // namespace

void SwitchApiCallbacks(const Cupti& cupti, CuptiSubscriber subscriber, WatchedApi watched,
                        bool on) {
  if (watched == WatchedApi::kAll) {
    cupti.enable_domain(on, subscriber, kRuntimeApi);
    cupti.enable_domain(on, subscriber, kDriverApi);
  } else {
    for (const Ids ids : kRuntimeIds) Switch(cupti, subscriber, kRuntimeApi, ids, on);
    for (const Ids ids : kDriverIds) Switch(cupti, subscriber, kDriverApi, ids, on);
  }
}

void EnableUnloadCallbacks(const Cupti& cupti, CuptiSubscriber subscriber) {
  cupti.enable_callback(1, subscriber, kResource, kModuleUnloadStarting);
}

void OnCallback(void*, uint32_t domain, uint32_t id, const CallbackData* data) {
  if (domain == kRuntimeApi || domain == kDriverApi) {
    if (data->site == kEnter) {
      BeginCall(data->correlation_data);
    } else if (*data->correlation_data != 0) {
      EndCall(domain, id, data);
    }
  } else if (domain == kResource && id == kModuleUnloadStarting) {
    ForgetKernelNames();
  }
}

}  // namespace rlscope::capture
