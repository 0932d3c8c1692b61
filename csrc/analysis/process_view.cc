#include "analysis/process_view.h"

#include <algorithm>

namespace rlscope::analysis {

void ProcessView::Reserve(uint32_t paths) {
  const size_t rows = size_t{paths} * kRowsOfPath;
  if (rows <= cells_.size()) return;
  cells_.resize(2 * rows);
  if (has_buckets_) bucket_ns_.resize(2 * rows);
  times_.cells = cells_.data();
}

void ProcessView::Flush() {
  if (times_.counted != kNoRow) {
    counted_phase_ = phase_;
    counted_row_ = times_.counted;
  }
  for (uint32_t row : touched_) {
    const uint64_t cell = times_.cells[row];
    const uint64_t counts = (uint64_t{1} << time_shift_) - 1;
    AddTotal(row, static_cast<int64_t>(cell >> time_shift_), cell & counts);
    times_.cells[row] = 0;
  }
  touched_.clear();
}

void ProcessView::Charge(uint32_t row, int64_t elapsed_ns) {
  AddTotal(row, elapsed_ns, row != times_.counted);
  times_.counted = row;
}

OutsideTimes ProcessView::outside() const {
  OutsideTimes times = outside_ns_;
  for (uint32_t row = 0; row < kRowsOfPath; ++row) {
    times[row] += static_cast<int64_t>(times_.cells[row] >> time_shift_);
  }
  return times;
}

void ProcessView::AddTotal(uint32_t row, int64_t duration_ns, uint64_t count) {
  BreakdownRow* total = rows_.FindOrAdd((uint64_t{phase_} << 32 | row) + 1);
  total->duration_ns += duration_ns;
  total->count += count;
  if (PathOfRow(row) == kNoPath) outside_ns_[row] += duration_ns;
  if (!has_buckets_) return;
  if (bucket_ns_[row] == 0) bucket_touched_.push_back(row);
  bucket_ns_[row] += duration_ns;
}

// A stretch goes on only in its own phase.
void ProcessView::SetPhase(uint32_t phase) {
  phase_ = phase;
  times_.counted = phase == counted_phase_ ? counted_row_ : kNoRow;
}

void ProcessView::EndBucket(uint32_t bucket) {
  std::sort(bucket_touched_.begin(), bucket_touched_.end());
  for (uint32_t row : bucket_touched_) {
    timeline_.push_back({bucket, row, bucket_ns_[row]});
    bucket_ns_[row] = 0;
  }
  bucket_touched_.clear();
}

SpillVector<TimelineRow> CoarserTimeline(const SpillVector<TimelineRow>& finer) {
  SpillVector<TimelineRow> coarser;
  const TimelineRow* at = finer.begin();
  while (at != finer.end()) {
    const uint32_t bucket = at->bucket / 2;
    const TimelineRow* left = at;
    const TimelineRow* left_end = left;
    while (left_end != finer.end() && left_end->bucket == left->bucket) ++left_end;
    const TimelineRow* right = left_end;
    const TimelineRow* right_end = right;
    while (right_end != finer.end() && right_end->bucket / 2 == bucket) ++right_end;
    at = right_end;
    while (left != left_end || right != right_end) {
      const bool from_left = right == right_end || (left != left_end && left->row <= right->row);
      TimelineRow row = from_left ? *left++ : *right++;
      if (from_left && right != right_end && right->row == row.row) {
        row.duration_ns += right++->duration_ns;
      }
      coarser.push_back({bucket, row.row, row.duration_ns});
    }
  }
  return coarser;
}

}  // namespace rlscope::analysis
