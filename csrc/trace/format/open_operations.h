// Which operations of one thread are open, task by task: what the encoder needs to shorten an
// exit to one bit, and to write the snapshot in a chunk's header. Fixed size, libc only.
//
// The stack may know less than the truth, as a reader sees it (it overflowed, a drainer took over
// in mid-run), never something else: per task it is always the innermost part of the real one.
// `complete` says that it is all of it.
#ifndef RLSCOPE_TRACE_FORMAT_OPEN_OPERATIONS_H_
#define RLSCOPE_TRACE_FORMAT_OPEN_OPERATIONS_H_

#include <stdint.h>

namespace rlscope::trace {

constexpr uint32_t kUnknownTask = UINT32_MAX;

struct OpenOperation {
  uint64_t enter_ticks;
  uint32_t task;  // 0 = outside any task
  uint32_t name;
};

class OpenOperations {
 public:
  // 512 x 16 bytes a thread: deep recursion, or 512 suspended asyncio tasks, one operation each.
  // One more and everything is forgotten (exits are then written with their names).
  static constexpr uint32_t kCapacity = 512;

  // A thread begins: nothing is open, no task runs.
  void Reset();
  // Nothing is known any more: there were too many, or another drainer was here before.
  void Forget();

  void Enter(uint32_t name, uint64_t ticks);
  // Closes the innermost instance of `name` in the running task, else outside of tasks. True when
  // that was the innermost open operation of the running task.
  bool Exit(uint32_t name);
  void SwitchTask(uint32_t task);
  // The reader may not know which task runs. Call it only when nothing is open.
  void LoseTask();
  // A window ends, or records were lost: to the reader, nothing is open.
  void CloseAll();

  bool complete() const { return complete_; }
  uint32_t task() const { return task_known_ ? task_ : kUnknownTask; }
  uint32_t count() const { return count_; }
  // In order of entering, so outermost first within a task.
  const OpenOperation& operator[](uint32_t index) const { return entries_[index]; }

 private:
  int32_t FindInnermost(uint32_t task, uint32_t name, bool* is_innermost) const;
  void Remove(uint32_t index);

  // Zero-filled memory is a stack of which nothing is known.
  uint32_t count_ = 0;
  uint32_t task_ = 0;
  bool task_known_ = false;
  bool complete_ = false;
  OpenOperation entries_[kCapacity];
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_FORMAT_OPEN_OPERATIONS_H_
