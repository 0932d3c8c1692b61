// The members of DrainScratch (drain.h).
#ifndef RLSCOPE_TRACE_DRAIN_DRAIN_SCRATCH_H_
#define RLSCOPE_TRACE_DRAIN_DRAIN_SCRATCH_H_

#include "trace/drain/source_files.h"
#include "trace/write/chunks.h"
#include "trace/write/encoder.h"
#include "trace/write/interval_encoder.h"

namespace rlscope::trace {

struct DrainScratch {
  CpuEncoder encoder;
  IntervalEncoder intervals;
  ChunkBuffer buffer;
  bool reads_stacks;
  SourceFiles* files;  // of the functions in stacks; null: nobody asks for them
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_DRAIN_SCRATCH_H_
