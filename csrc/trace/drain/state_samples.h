// Which threads of a process image were awake, and where those of the interpreter were, at the
// times at which they were asked, until they are written. Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_STATE_SAMPLES_H_
#define RLSCOPE_TRACE_DRAIN_STATE_SAMPLES_H_

#include <stdint.h>

#include "trace/write/chunks.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

class StateSamples {
 public:
  // A time later than the one before. False: there is no room until they are written.
  bool Begin(int64_t now_ns);
  // At the time that was begun last.
  void AddAwake(uint32_t thread);
  void AddStack(const ThreadStack& stack);
  // The time that was begun last counts, unless there were too many threads.
  void End();

  // All that count; then there are none. 0 or an errno.
  int Write(Sink* sink, ChunkBuffer* buffer);

 private:
  int64_t times_ns_[kMostStates];
  uint32_t ends_[kMostStates];
  uint32_t awake_[kMostAwake];
  uint32_t count_ = 0;
  uint32_t end_ = 0;  // of the time that was begun; beyond kMostAwake: there were too many
  uint32_t stack_ends_[kMostStates];
  ThreadStack stacks_[kMostStacks];
  uint32_t stack_end_ = 0;  // of the time that was begun; what finds no room is not known
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_STATE_SAMPLES_H_
