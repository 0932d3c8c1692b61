// The threads of a process image that have not ended, and what the kernel last counted of them: for
// a thread that is killed, nothing else will be known. Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_LIVING_THREADS_H_
#define RLSCOPE_TRACE_DRAIN_LIVING_THREADS_H_

#include <stdint.h>

#include "trace/drain/state_samples.h"
#include "trace/layout/shared_pages.h"
#include "trace/write/chunks.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

class LivingThreads {
 public:
  LivingThreads() = default;
  ~LivingThreads();
  LivingThreads(const LivingThreads&) = delete;
  LivingThreads& operator=(const LivingThreads&) = delete;

  void Begin(uint32_t thread, uint32_t os_tid);
  // Its last times are in the file.
  void End(uint32_t thread);

  // Asks the kernel, 7 us for each thread. `pid`: as this process sees it.
  void Read(uint32_t pid);

  bool IsEmpty() const { return count_ == 0; }
  // The number of the thread; false: it is none of them.
  bool Find(uint32_t os_tid, uint32_t* thread) const;

  // Asks the kernel which of them are awake, 3 us for each. One that cannot be asked counts as
  // awake, so that nothing is said of it.
  void AddAwake(uint32_t pid, StateSamples* samples);

  // The last reading of each thread. 0 or an errno.
  int Write(Sink* sink, ChunkBuffer* buffer) const;

 private:
  struct Living {
    uint32_t thread;
    uint32_t os_tid;
    ThreadTimes times;
    int state_file;  // -1: none is kept open
  };
  bool MakeRoom();
  static char StateOf(uint32_t pid, Living* living);
  static void Close(Living* living);

  Living* threads_ = nullptr;
  uint32_t count_ = 0, capacity_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_LIVING_THREADS_H_
