#include "trace/write/window_changes.h"

namespace rlscope::trace {

// The producer may be writing number `end`, in the place of number end - kWindowChanges: that one
// does not count, nor those that were overwritten while they were copied.
void WindowChanges::Read(const ProcessPage& page) {
  end_ = __atomic_load_n(&page.window_changes, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < kWindowChanges; i++) {
    values_[i] = __atomic_load_n(&page.window_change[i], __ATOMIC_ACQUIRE);
  }
  const uint32_t now = __atomic_load_n(&page.window_changes, __ATOMIC_ACQUIRE);
  begin_ = now < kWindowChanges ? 0 : now - kWindowChanges + 1;
  if (end_ - begin_ > kWindowChanges) begin_ = end_;  // overwritten all, or not a page of ours
}

void WindowChanges::Append(uint64_t ticks, bool starts) {
  values_[end_++ % kWindowChanges] = ticks << 1 | static_cast<uint64_t>(starts);
  if (end_ - begin_ > kWindowChanges) begin_++;
}

}  // namespace rlscope::trace
