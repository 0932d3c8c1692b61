// The threads of a process image as a drainer follows them from ring to ring. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_THREAD_STREAMS_H_
#define RLSCOPE_TRACE_DRAIN_THREAD_STREAMS_H_

#include <stdint.h>
#include <stdlib.h>

#include "trace/write/encoder.h"

namespace rlscope::trace {

// Makes room for one more in an array of pointers. False: no memory, nothing changed.
template <typename T>
bool Grow(T** array, uint32_t count, uint32_t* capacity) {
  if (count < *capacity) return true;
  const uint32_t larger = *capacity == 0 ? 8 : *capacity * 2;
  void* memory = realloc(*array, larger * sizeof(T));
  if (memory == nullptr) return false;
  *array = static_cast<T*>(memory);
  *capacity = larger;
  return true;
}

class ThreadStreams {
 public:
  struct Stream {
    ThreadStream thread;
    bool ended;  // its kThreadEnd was written: the place may be used again
  };

  ThreadStreams() = default;
  ~ThreadStreams();
  ThreadStreams(const ThreadStreams&) = delete;
  ThreadStreams& operator=(const ThreadStreams&) = delete;

  // The stream of `thread`, new and with nothing known if there is none. Null: no memory.
  Stream* Find(uint32_t thread);

 private:
  Stream** streams_ = nullptr;
  uint32_t count_ = 0, capacity_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_THREAD_STREAMS_H_
