// GPU work by CUPTI's activity records: buffers that CUPTI fills, read on a thread of ours.
#ifndef RLSCOPE_CUPTI_ACTIVITIES_H_
#define RLSCOPE_CUPTI_ACTIVITIES_H_

#include <stddef.h>
#include <stdint.h>

#include "cupti/library.h"
#include "cupti/note.h"

namespace rlscope::cupti {

// What CUPTI is asked to record; launches of graphs come to it where they can be traced. Kernels
// run beside each other as without us: never kActivityKernel, which makes them take turns.
struct Activity {
  ActivityKind kind;
  const char* without;  // said where CUPTI refuses it; null: nothing worth a sentence is missing
  Missing missing = Missing::kNothingWhole;
};
constexpr Activity kActivities[] = {
    {kActivityConcurrentKernel, "GPU work is missing", Missing::kWork},
    {kActivityMemcpy, "copies are missing in GPU work"},
    {kActivityMemset, "memsets are missing in GPU work"},
    {kActivitySynchronization, "the stream or device of synchronisations is missing"},
    {kActivityMemcpyPeer, "copies between GPUs are missing in GPU work"},
    {kActivityOverhead, nullptr},
};

// CUPTI asks for memory, and hands it back full. Both in any thread: what is full waits for
// ReadBuffers().
void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records);
void TakeBuffer(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

// CUPTI was ended some time ago: what it did not hand back is free.
void TakeBuffersBack();

// CLOCK_REALTIME less CLOCK_MONOTONIC, for records of a CUPTI that refused our clock.
void SetRealtimeOffset(int64_t offset_ns);

// Records what lies in the buffers that were handed back, and counts what CUPTI dropped. One thread
// at a time. Work that began after recording stopped is left out.
void ReadBuffers(const Cupti& cupti);

// How many records ReadBuffers() has seen; CUPTI's notes on itself do not count. Any thread; read
// in each CUDA call.
extern uint64_t records_read;
inline uint64_t RecordsRead() { return __atomic_load_n(&records_read, __ATOMIC_RELAXED); }

// How many of them were launches: kernels, and graphs that were traced as one. Any thread.
uint64_t LaunchesRead();

// How many records had times before the process began or after they were read: CUPTI's clock is not
// what we take it for.
uint64_t ImpossibleTimes();

// A module is unloaded: its kernels' names may go, and others come to lie where they were.
void ForgetKernelNames();

// Fork child: buffers belong to a CUDA that does not exist here.
void ForgetBuffers();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_ACTIVITIES_H_
