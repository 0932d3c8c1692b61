// The members of DrainScratch (drain.h).
#ifndef RLSCOPE_TRACE_DRAIN_DRAIN_SCRATCH_H_
#define RLSCOPE_TRACE_DRAIN_DRAIN_SCRATCH_H_

#include "trace/write/chunks.h"
#include "trace/write/encoder.h"
#include "trace/write/interval_encoder.h"

namespace rlscope::trace {

struct DrainScratch {
  CpuEncoder encoder;
  IntervalEncoder intervals;
  ChunkBuffer buffer;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_DRAIN_SCRATCH_H_
