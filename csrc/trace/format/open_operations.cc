#include "trace/format/open_operations.h"

#include <string.h>

namespace rlscope::trace {

void OpenOperations::Reset() {
  count_ = 0;
  task_ = 0;
  task_known_ = true;
  complete_ = true;
}

void OpenOperations::Forget() {
  count_ = 0;
  complete_ = false;
}

void OpenOperations::CloseAll() {
  count_ = 0;
  complete_ = true;
}

void OpenOperations::Enter(uint32_t name, uint64_t ticks) {
  if (count_ == kCapacity) Forget();
  entries_[count_++] = {ticks, task(), name};
}

// Searches from the innermost outwards among the operations of `task`. -1: not there.
int32_t OpenOperations::FindInnermost(uint32_t task, uint32_t name, bool* is_innermost) const {
  *is_innermost = true;
  for (uint32_t i = count_; i-- > 0;) {
    if (entries_[i].task != task) continue;
    if (entries_[i].name == name) return static_cast<int32_t>(i);
    *is_innermost = false;
  }
  return -1;
}

void OpenOperations::Remove(uint32_t index) {
  --count_;
  memmove(&entries_[index], &entries_[index + 1], (count_ - index) * sizeof entries_[0]);
}

bool OpenOperations::Exit(uint32_t name) {
  bool is_innermost;
  int32_t at = FindInnermost(task(), name, &is_innermost);
  if (at < 0 && task() != 0) {
    is_innermost = false;
    // With part of the task's own stack unknown, the instance may be there or outside: what is
    // known of either is no longer certain.
    if (!complete_) {
      Forget();
      return false;
    }
    bool ignored;
    at = FindInnermost(0, name, &ignored);
  }
  if (at < 0) return false;
  Remove(static_cast<uint32_t>(at));
  return is_innermost;
}

void OpenOperations::SwitchTask(uint32_t task) {
  if (!task_known_) Forget();  // which task those belong to will never be known
  task_ = task;
  task_known_ = true;
}

void OpenOperations::LoseTask() { task_known_ = false; }

}  // namespace rlscope::trace
