// Writes intervals that are known only when they are over: the CUDA calls of a thread, and the
// work on the GPUs of the process. Each has a ring of its own beside those of the threads, because
// the items of a thread's ring are in order of time and never contain each other.
#ifndef RLSCOPE_RUNTIME_INTERVAL_WRITER_H_
#define RLSCOPE_RUNTIME_INTERVAL_WRITER_H_

#include <stdint.h>

#include "runtime/interval_writer_pool.h"
#include "trace/layout/cuda_record.h"

namespace rlscope::runtime {

// The writer of the calling thread's CUDA calls, made if there is none. Null: nothing records, or
// no ring can be had (loss no_ring).
IntervalWriter* MakeCallWriter();

// How often whoever tells us of calls was ended and began anew: the end of a call that was open
// then may never be told.
extern uint32_t cuda_session;

// The open call of the thread, if there is one, is none of this window and session.
void ForgetOpenCall(IntervalWriter* writer) __attribute__((cold));
// A call of another session ends, or never will: what it asked of the GPU may be missing.
void CountCutCall() __attribute__((cold));

// Makes room for `slots` in its ring. False: drop the record.
bool MakeIntervalRoom(IntervalWriter* writer, uint32_t slots);

// Records work on a GPU, from one thread at a time, in a process that has an image; also while
// nothing records, because what is known only now may have run before. Follows no window: the
// thread is none of the program's and must not appear in the trace. False: it is lost, and counted.
bool WriteGpuWork(const trace::GpuWork& work, uint32_t name);

// Fork child, or a new session: no writer has a ring.
void ForgetIntervals();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_INTERVAL_WRITER_H_
