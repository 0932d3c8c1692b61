#include "cupti/watched_calls.h"

namespace rlscope::cupti {
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

void Switch(const Cupti& cupti, CuptiSubscriber subscriber, CallbackDomain domain, Ids ids,
            bool on) {
  for (uint32_t id = ids.first; id <= ids.last; id++) {
    cupti.enable_callback(on, subscriber, domain, id);
  }
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

}  // namespace rlscope::cupti
