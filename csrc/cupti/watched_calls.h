// Which functions of CUDA call us back.
#ifndef RLSCOPE_CUPTI_WATCHED_CALLS_H_
#define RLSCOPE_CUPTI_WATCHED_CALLS_H_

#include "cupti/library.h"

namespace rlscope::cupti {

// All functions of both APIs, or those that launch, copy, synchronise, allocate or wait:
// others are frequent, take less than 200 ns and do nothing on a device.
enum class WatchedApi { kChosen, kAll };

// Asks for the callbacks of calls, or does without. An id that this CUPTI is too old for is left
// out.
void SwitchApiCallbacks(const Cupti& cupti, CuptiSubscriber subscriber, WatchedApi watched,
                        bool on);

// Asks for the callbacks of modules that are unloaded, which names of kernels need.
void EnableUnloadCallbacks(const Cupti& cupti, CuptiSubscriber subscriber);

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_WATCHED_CALLS_H_
