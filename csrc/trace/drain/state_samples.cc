#include "trace/drain/state_samples.h"

namespace rlscope::trace {

bool StateSamples::Begin(int64_t now_ns) {
  if (count_ == kMostStates) return false;
  times_ns_[count_] = now_ns;
  end_ = count_ == 0 ? 0 : ends_[count_ - 1];
  stack_end_ = count_ == 0 ? 0 : stack_ends_[count_ - 1];
  return true;
}

void StateSamples::AddAwake(uint32_t thread) {
  if (end_ < kMostAwake) awake_[end_] = thread;
  if (end_ <= kMostAwake) end_++;
}

void StateSamples::AddStack(const ThreadStack& stack) {
  if (stack_end_ < kMostStacks) stacks_[stack_end_++] = stack;
}

void StateSamples::End() {
  if (end_ > kMostAwake) return;
  ends_[count_] = end_;
  stack_ends_[count_++] = stack_end_;
}

int StateSamples::Write(Sink* sink, ChunkBuffer* buffer) {
  const StatesFields fields = {times_ns_, ends_, awake_, count_, stack_ends_, stacks_};
  count_ = 0;
  return WriteStates(sink, buffer, fields);
}

}  // namespace rlscope::trace
