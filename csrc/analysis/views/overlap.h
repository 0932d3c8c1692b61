// Overlap of named streams in its general form: for how long was exactly this set of streams active
// at once? (RL-Scope, Gleeson et al., MLSys 2021, section 3.)
#ifndef RLSCOPE_ANALYSIS_VIEWS_OVERLAP_H_
#define RLSCOPE_ANALYSIS_VIEWS_OVERLAP_H_

#include <stdint.h>

#include <vector>

namespace rlscope::analysis {

struct Interval {
  int64_t start_ns;
  int64_t end_ns;  // exclusive; one that is not after start_ns is empty
};

struct OverlapRow {
  std::vector<uint32_t> streams;  // ascending, at least one
  int64_t duration_ns;            // in which exactly these streams are active
  int64_t start_ns;               // of the first such stretch
  int64_t end_ns;                 // of the last
};

// One row per set that is ever active, in the order of their first stretches. Intervals come in any
// order; those of one stream that overlap or touch count once. Sorts each stream, then sweeps all
// boundaries: n log n in intervals, times the sets' size at each boundary.
std::vector<OverlapRow> FindOverlap(std::vector<std::vector<Interval>> streams);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_OVERLAP_H_
