// A probe that a sweep found: what the recorder cost in one place (trace/layout/record.h).
#ifndef RLSCOPE_ANALYSIS_THREADS_PROBES_H_
#define RLSCOPE_ANALYSIS_THREADS_PROBES_H_

#include <stdint.h>

#include "analysis/spill/spill_vector.h"

namespace rlscope::analysis {

struct FoundProbe {
  uint32_t kind;          // trace::ProbeKind
  uint64_t ticks;         // of the clock itself
  uint64_t inside_ticks;  // of those that record: as their own records say; 0: not known
};

// Those of one thread are in the order of time.
using FoundProbes = SpillVector<FoundProbe>;

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_PROBES_H_
