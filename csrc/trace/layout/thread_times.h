// What the kernel counted of a thread since that began: one reading of
// /proc/<pid>/task/<tid>/schedstat. Text of an arena entry (shared_pages.h).
#ifndef RLSCOPE_TRACE_LAYOUT_THREAD_TIMES_H_
#define RLSCOPE_TRACE_LAYOUT_THREAD_TIMES_H_

#include <stdint.h>

namespace rlscope::trace {

struct ThreadTimes {
  uint64_t running_ns;   // on a CPU
  uint64_t runnable_ns;  // waiting for one
  int64_t read_ns;       // CLOCK_MONOTONIC of the reading; 0: there is none
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_THREAD_TIMES_H_
