// CUDA calls by CUPTI's callbacks: which functions are watched, and what happens at one.
#ifndef RLSCOPE_CAPTURE_API_CALLS_H_
#define RLSCOPE_CAPTURE_API_CALLS_H_

#include <stdint.h>

#include "capture/cupti.h"

namespace rlscope::capture {

// Of all functions of both APIs, or of those that launch, copy, synchronise, allocate or wait:
// others are frequent, take less than 200 ns and do nothing on a device.
enum class WatchedApi { kChosen, kAll };

// Asks for the callbacks of calls, or does without. An id that this CUPTI is too old for is left
// out.
void SwitchApiCallbacks(const Cupti& cupti, CuptiSubscriber subscriber, WatchedApi watched,
                        bool on);

// Asks for the callbacks of modules that are unloaded, which names of kernels need.
void EnableUnloadCallbacks(const Cupti& cupti, CuptiSubscriber subscriber);

// The callback of the subscription. Called by CUPTI in the program's threads, around its calls.
void OnCallback(void* user, uint32_t domain, uint32_t id, const CallbackData* data);

}  // namespace rlscope::capture

#endif  // RLSCOPE_CAPTURE_API_CALLS_H_
