// The stacks of a process image while it runs: where its interpreter's threads are now, and what of
// that is new. Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_IMAGE_STACKS_H_
#define RLSCOPE_TRACE_DRAIN_IMAGE_STACKS_H_

#include <stdint.h>

#include "trace/drain/growing_array.h"
#include "trace/drain/living_threads.h"
#include "trace/drain/stack_numbers.h"
#include "trace/drain/stack_reader.h"
#include "trace/drain/state_samples.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

class ImageStacks {
 public:
  ImageStacks() = default;
  ~ImageStacks();
  ImageStacks(const ImageStacks&) = delete;
  ImageStacks& operator=(const ImageStacks&) = delete;

  // Reads where the living threads are. `pid`: as this process sees it.
  void Read(uint32_t pid, const ProcessPage& page, const LivingThreads& living);

  // CLOCK_MONOTONIC when the memory was copied from which Read() took the stack of the main thread,
  // or of the first one if there is none of that. 0: it found no stack.
  int64_t copied_ns() const { return copied_ns_; }

  // What Read() found, at the time that was begun last.
  void AddTo(StateSamples* samples) const;

  StackNumbers* numbers() { return &numbers_; }

 private:
  bool Open(uint32_t pid, const ProcessPage& page);

  StackNumbers numbers_;
  StackReader* reader_ = nullptr;
  bool is_unreadable_ = false;
  GrowingArray<ThreadStack> found_;
  int64_t copied_ns_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_IMAGE_STACKS_H_
