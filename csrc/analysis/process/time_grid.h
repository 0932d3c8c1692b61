// The buckets of timelines: one grid for all processes of a machine
// (docs/reference/semantics.md#timeline).
#ifndef RLSCOPE_ANALYSIS_PROCESS_TIME_GRID_H_
#define RLSCOPE_ANALYSIS_PROCESS_TIME_GRID_H_

#include <stdint.h>

#include "analysis/process/history.h"

namespace rlscope::analysis {

// The highest level; the finest one of a process is 0 or below.
constexpr int32_t kLastTimelineLevel = 3;

struct TimeGrid {
  int64_t origin_ns;
  int64_t bucket_ns;  // of this level: a power of two
  int32_t level;      // 0: as fine as fits the time of the whole grid

  // Level 0 of the grid for this time: at most `most` buckets, at least 1.
  static TimeGrid For(const Span& whole, uint32_t most) {
    TimeGrid grid = {whole.start_ns, 1, 0};
    while (grid.Touched(whole) > most) grid.bucket_ns *= 2;
    return grid;
  }

  // The finest level at which this time touches at most `most` buckets.
  TimeGrid FinestFor(const Span& time, uint32_t most) const {
    TimeGrid finest = *this;
    while (finest.bucket_ns > 1 && time.start_ns < time.end_ns) {
      const TimeGrid finer = {origin_ns, finest.bucket_ns / 2, finest.level - 1};
      if (finer.Touched(time) > most) break;
      finest = finer;
    }
    return finest;
  }

  // The time must not lie before the origin.
  int64_t BucketOf(int64_t time_ns) const { return (time_ns - origin_ns) / bucket_ns; }
  int64_t StartOf(int64_t bucket) const { return origin_ns + bucket * bucket_ns; }

 private:
  int64_t Touched(const Span& time) const {
    if (time.start_ns >= time.end_ns) return 0;
    return BucketOf(time.end_ns - 1) - BucketOf(time.start_ns) + 1;
  }
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_TIME_GRID_H_
