// The open operations of one thread: a stack for the thread itself and one for each asyncio task,
// on top of it (docs/reference/semantics.md#operations, docs/reference/semantics.md#asyncio).
#ifndef RLSCOPE_ANALYSIS_THREADS_OPERATION_STACK_H_
#define RLSCOPE_ANALYSIS_THREADS_OPERATION_STACK_H_

#include <stdint.h>

#include <unordered_map>
#include <vector>

#include "analysis/keys/operation_paths.h"
#include "analysis/process/losses.h"

namespace rlscope::analysis {

enum class Ended : uint8_t { kExit, kWindow, kProcessEnd, kThreadEnd, kGap };

struct OperationInstance {
  uint32_t thread;
  uint32_t path;
  int64_t start_ns;
  int64_t end_ns;
  int64_t self_ns;  // innermost and running
  Ended ended;
};

// Where closed instances go.
class InstanceSink {
 public:
  virtual ~InstanceSink() = default;
  virtual void Add(const OperationInstance& instance) = 0;
};

class OperationStack {
 public:
  // `sink` may be null: then instances are only counted, in `paths`.
  OperationStack(uint32_t thread, OperationPaths* paths, Losses* losses, InstanceSink* sink)
      : thread_(thread), paths_(paths), losses_(losses), sink_(sink) {}
  OperationStack(const OperationStack&) = delete;
  OperationStack& operator=(const OperationStack&) = delete;

  // Times never decrease from call to call. An entry closes the automatic operation.
  void Enter(uint32_t name_id, int64_t now);
  void Exit(uint32_t name_id, int64_t now);
  void SwitchTask(uint32_t task, int64_t now);
  // The automatic operation of the thread is `operation` from here on, a final state;
  // `begins`: another instance, also of the one that is open. Only while no other is open.
  void SetAutomatic(uint32_t operation, bool begins, int64_t now);
  void CloseAll(int64_t now, Ended ended);

  // The innermost open operation's, kNoPath if none is open.
  uint32_t path() const { return innermost_ == nullptr ? kNoPath : innermost_->path; }
  // The outermost open operation's, kNever if none is open. `entry` tells two operations apart that
  // began at the same time.
  int64_t outermost_begin_ns() const;
  uint32_t outermost_path() const;
  uint64_t outermost_entry() const;

  // Whether an operation was ever entered, or found.
  bool has_entered() const { return entries_ > 0; }

  void Carry(trace::Archive* archive);

 private:
  struct Open {
    uint32_t name;
    uint32_t path;
    uint64_t entry;  // counts the entries of this thread
    int64_t enter_ns;
    int64_t self_ns;
  };
  using Stack = std::vector<Open>;

  void CarryOpen(trace::Archive* archive, Open* open);
  void CarryStack(trace::Archive* archive, Stack* stack);
  void ChargeInnermost(int64_t now);
  void FindInnermost();
  void CloseAutomatic(int64_t now, Ended ended);
  bool ExitFrom(Stack* stack, uint32_t name, int64_t now);
  void Close(const Open& open, int64_t now, Ended ended);
  const Open* outermost() const;

  const uint32_t thread_;
  OperationPaths* const paths_;
  Losses* const losses_;
  InstanceSink* const sink_;
  Stack thread_stack_;
  Open automatic_ = {};
  bool automatic_is_open_ = false;
  std::unordered_map<uint32_t, Stack> task_stacks_;
  Stack* running_ = &thread_stack_;
  uint32_t task_ = 0;
  Open* innermost_ = nullptr;
  int64_t charged_ns_ = 0;  // up to here, time is in somebody's self_ns
  uint64_t entries_ = 0;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_OPERATION_STACK_H_
