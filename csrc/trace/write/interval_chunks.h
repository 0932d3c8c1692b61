// CudaCallChunk and GpuChunk of trace.proto, written as one frame each (chunks.h).
#ifndef RLSCOPE_TRACE_WRITE_INTERVAL_CHUNKS_H_
#define RLSCOPE_TRACE_WRITE_INTERVAL_CHUNKS_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/layout/cuda_interval.h"
#include "trace/write/chunk_buffer.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

// Calls of one thread, in order of start. At most kChunkIntervals of them; none when the slots held
// none, which the reader must know. A chunk cannot hold
// calls that overlap: one that starts before the one ahead ended starts at that end, and ends where
// it ended or there. Each time that was moved is added to *clamped.
int WriteCudaCalls(Sink* sink, ChunkBuffer* buffer, uint32_t thread, uint32_t ring,
                   uint64_t first_slot, uint64_t slots, const CudaCall* calls, size_t count,
                   uint64_t* clamped = nullptr);

// Whose intervals a GpuChunk holds, and where they lay: the chunks of all streams that were made
// from one piece of a ring name that piece. ring 0: they did not come from one.
struct GpuOrigin {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t ring = 0;
  uint64_t first_slot = 0;
  uint64_t slots = 0;
};

// Intervals of one stream, sorted by start. At most kChunkIntervals of them, or none; EMSGSIZE also
// when they do not fit the buffer, which 1,024 always do.
int WriteGpu(Sink* sink, ChunkBuffer* buffer, const GpuOrigin& origin, const GpuInterval* intervals,
             size_t count);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_INTERVAL_CHUNKS_H_
