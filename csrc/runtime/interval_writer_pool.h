// Places for the writers of intervals. Threads come and go: theirs are used again. Private memory,
// which fork children inherit. Needs process_lock throughout.
#ifndef RLSCOPE_RUNTIME_INTERVAL_WRITER_POOL_H_
#define RLSCOPE_RUNTIME_INTERVAL_WRITER_POOL_H_

#include <stdint.h>

#include "runtime/rlscope.h"

namespace rlscope::runtime {

struct IntervalWriter {
  rlscope_thread self;  // cursor, limit, lap, ring, generation and thread, as of a thread
  // CUDA calls only: the outermost one that is open.
  uint64_t start;    // ticks
  uint32_t depth;    // open calls, each inside the one before
  uint32_t window;   // rlscope_process.window in which it began
  uint32_t session;  // cuda_session in which it began
  void* sites;       // what the finder of call sites keeps for the thread
  IntervalWriter* next_free;
};

// A place filled with zeros. Null: there is no memory.
IntervalWriter* NewWriter();

void FreeWriter(IntervalWriter* writer);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_INTERVAL_WRITER_POOL_H_
