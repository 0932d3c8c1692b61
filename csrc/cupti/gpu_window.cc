#include "cupti/gpu_window.h"

#include "runtime/lock.h"

namespace rlscope::cupti {
namespace {

constexpr GpuWindow kWhole = {0, 0, 0, 0, 0, UINT32_MAX};

runtime::Lock numbering;

// The first call since CUPTI was attached. Several threads may come here at once.
void FollowCount(uint32_t correlation) {
  runtime::LockGuard guard(&numbering);
  if (gpu_window.is_new == 0) return;
  const uint32_t last = LastCallNumber();
  if (static_cast<int32_t>(CallNumber(correlation) - last) <= 0)
    __atomic_store_n(&gpu_window.offset, last, __ATOMIC_RELAXED);
  __atomic_store_n(&gpu_window.is_new, 0, __ATOMIC_RELEASE);
}

}  // namespace

GpuWindow gpu_window = kWhole;

void NoticeNumber(uint32_t correlation) {
  if (__atomic_load_n(&gpu_window.is_new, __ATOMIC_ACQUIRE) != 0) FollowCount(correlation);
  const uint32_t number = CallNumber(correlation);
  uint32_t last = LastCallNumber();
  while (static_cast<int32_t>(number - last) > 0) {
    if (__atomic_compare_exchange_n(&runtime::process.last_call, &last, number, true,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return;
    }
  }
}

// The begin of one may not have been seen.
void NoticeCapture(bool begins) {
  uint32_t count = __atomic_load_n(&gpu_window.captures, __ATOMIC_RELAXED), next;
  do {
    next = begins ? count + 1 : count - (count != 0);
  } while (!__atomic_compare_exchange_n(&gpu_window.captures, &count, next, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}

void UseGpuWindows() {
  gpu_window = kWhole;
  gpu_window.are_used = 1;
}

uint32_t OpenGpuWindow() {
  const uint32_t last = LastCallNumber();
  gpu_window.first_kept = last + 1;
  gpu_window.kept = INT32_MAX;
  return last;
}

void CloseGpuWindow() { gpu_window.kept = LastCallNumber() + 1 - gpu_window.first_kept; }

void DropGpuWork() { gpu_window.kept = 0; }

void ForgetCaptures() { __atomic_store_n(&gpu_window.captures, 0, __ATOMIC_RELAXED); }

void BeginNumbers() {
  ForgetCaptures();
  __atomic_store_n(&gpu_window.is_new, 1, __ATOMIC_RELEASE);
}

void ForgetGpuWindow() {
  numbering.Reset();
  runtime::process.last_call = runtime::process.last_call_before = 0;
  gpu_window = kWhole;
}

}  // namespace rlscope::cupti
