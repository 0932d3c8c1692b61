// Time of a process by phase, operation, layer and GPU state, and the same by buckets of time.
#ifndef RLSCOPE_ANALYSIS_PROCESS_VIEW_H_
#define RLSCOPE_ANALYSIS_PROCESS_VIEW_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/process_state.h"
#include "analysis/spill_table.h"

namespace rlscope::analysis {

constexpr uint32_t kNoRow = UINT32_MAX;

// Time per row since the last flush; only rows that occur are looked at. `counted` is the row of
// the last stretch of nonzero time.
struct RowTimes {
  struct Cell {
    int64_t duration_ns;
    uint64_t count;
  };
  Cell* cells = nullptr;
  uint32_t counted = kNoRow;

  // True: the row had no time before this.
  bool Add(uint32_t row, int64_t elapsed_ns) {
    Cell& cell = cells[row];
    const int64_t before_ns = cell.duration_ns;
    const bool passed = elapsed_ns != 0;
    cell.duration_ns = before_ns + elapsed_ns;
    cell.count += passed & (row != counted);
    counted = passed ? row : counted;
    return before_ns == 0;
  }
};

struct BreakdownRow {
  uint64_t key;  // (phase << 32 | row) + 1
  int64_t duration_ns;
  uint64_t count;

  uint32_t phase() const { return static_cast<uint32_t>((key - 1) >> 32); }
  uint32_t row() const { return static_cast<uint32_t>(key - 1); }
};

struct TimelineRow {
  uint32_t bucket;
  uint32_t row;
  int64_t duration_ns;
};

class ProcessView {
 public:
  explicit ProcessView(bool has_buckets) : has_buckets_(has_buckets) {}

  // Room for rows of this many paths. The sweep works on a copy of times() between flushes.
  void Reserve(uint32_t paths);
  RowTimes* times() { return &times_; }
  void Touch(uint32_t row) { touched_.push_back(row); }

  // Moves what was added since the last flush to the phase that ends or goes on here.
  void Flush();
  void SetPhase(uint32_t phase);
  // After Flush: the bucket numbered `bucket` ends here.
  void EndBucket(uint32_t bucket);

  const SpillTable<BreakdownRow>& rows() const { return rows_; }
  // By bucket, in a bucket by row.
  SpillVector<TimelineRow> TakeTimeline() { return std::move(timeline_); }

 private:
  const bool has_buckets_;
  RowTimes times_;
  std::vector<RowTimes::Cell> cells_;
  std::vector<uint32_t> touched_;
  uint32_t phase_ = 0;
  uint32_t counted_phase_ = 0;     // of the last stretch of nonzero time,
  uint32_t counted_row_ = kNoRow;  // and its row
  SpillTable<BreakdownRow> rows_;
  std::vector<int64_t> bucket_ns_;  // by row, of the bucket that runs
  std::vector<uint32_t> bucket_touched_;
  SpillVector<TimelineRow> timeline_;
};

// The level above: buckets of twice the length, from rows sorted by bucket.
SpillVector<TimelineRow> CoarserTimeline(const SpillVector<TimelineRow>& finer);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_VIEW_H_
