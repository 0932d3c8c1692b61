// GPU work in windows (rls-prof --gpu-share): which launches' work is kept. A window holds whole
// launches, by CUPTI's numbers of them (correlation ids), which rise with each call:
//
//   calls       1   2   3   |   4    5    6   |   7    8
//   records     -   -   -       x    x    x       x    -      made until CUPTI is ended
//   kept        -   -   -       x    x    x       -    -      numbers 4 to 6
//                           ^ opened          ^ closed
//
// CUPTI is ended after each window, and may begin to count again: numbers of the trace go on.
#ifndef RLSCOPE_CUPTI_GPU_WINDOW_H_
#define RLSCOPE_CUPTI_GPU_WINDOW_H_

#include <stdint.h>

#include "runtime/process.h"

namespace rlscope::cupti {

struct GpuWindow {
  uint32_t are_used;          // windows; 0: all work is kept, and calls are not noticed
  uint32_t is_new;            // CUPTI has been attached, and no call was seen yet
  uint32_t offset;            // of the trace's numbers from those of CUPTI
  uint32_t captures;          // of streams that are under way, as far as calls were seen
  uint32_t first_kept, kept;  // numbers: the first, and how many
};
extern GpuWindow gpu_window;

// The trace's number of a call. Any thread.
inline uint32_t CallNumber(uint32_t correlation) {
  return correlation + __atomic_load_n(&gpu_window.offset, __ATOMIC_RELAXED);
}

// A call begins. Any thread.
void NoticeNumber(uint32_t correlation);
inline __attribute__((always_inline)) void NoticeCall(uint32_t correlation) {
  if (__builtin_expect(gpu_window.are_used != 0, 0)) NoticeNumber(correlation);
}

// A stream is captured into a graph from now on, or not any more. Any thread.
void NoticeCapture(bool begins);
// What CUPTI does to be attached or ended might invalidate a capture.
inline bool IsCapturing() { return __atomic_load_n(&gpu_window.captures, __ATOMIC_RELAXED) != 0; }

inline uint32_t LastCallNumber() {
  return __atomic_load_n(&runtime::process.last_call, __ATOMIC_RELAXED);
}

// Whether work of this number (of the trace) is kept. The thread that reads records.
inline bool IsWorkKept(uint32_t number) { return number - gpu_window.first_kept < gpu_window.kept; }

// The rest needs what the flusher's turn needs: one thread at a time.

// Before CUPTI is attached for the first time. The first window is open from its first call on.
void UseGpuWindows();
// Launches from now on are kept. Returns the number of the last one that is not.
uint32_t OpenGpuWindow();
// Those up to now are.
void CloseGpuWindow();
// None is kept any more.
void DropGpuWork();
// CUPTI was ended: it may count from 1 again.
void BeginNumbers();

// Calls were not seen for a while: ends of captures may be among them.
void ForgetCaptures();

// Fork child.
void ForgetGpuWindow();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_GPU_WINDOW_H_
