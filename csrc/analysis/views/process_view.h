// Time of a process by phase, operation, layer and GPU state, and the same by buckets of time and
// by iterations.
#ifndef RLSCOPE_ANALYSIS_VIEWS_PROCESS_VIEW_H_
#define RLSCOPE_ANALYSIS_VIEWS_PROCESS_VIEW_H_

#include <stdint.h>

#include <optional>
#include <utility>
#include <vector>

#include "analysis/process/process_state.h"
#include "analysis/views/breakdown_rows.h"
#include "analysis/views/loop_stages.h"
#include "analysis/views/part_times.h"

namespace rlscope::analysis {

constexpr uint32_t kNoRow = UINT32_MAX;

// Time and stretches per row since the last flush, in one number, so that the inner loop adds once:
// the time has the same bits as in a key, and the stretches have the bits below. Only rows that
// occur are looked at. `counted` is the row of the last stretch of nonzero time.
struct RowTimes {
  static constexpr size_t kMostCounts = 1 << kStateBits;  // between flushes; and one epoch at most

  uint64_t* cells = nullptr;
  uint32_t counted = kNoRow;

  // `elapsed` is shifted like the time in a key. True: the row gets its first time.
  bool Add(uint32_t row, uint64_t elapsed) {
    const uint32_t counted_before = counted;
    SetIf(elapsed, row, &counted);
    const uint64_t added = elapsed + (counted != counted_before);
    const uint64_t before = cells[row];
    cells[row] = before + added;
    return before == 0 && added != 0;
  }

 private:
  // If `condition` is not 0. It avoids ?:, which compilers turn into a branch: GPU work often
  // begins at the very time at which the call that launches it ends.
  static void SetIf(uint64_t condition, uint32_t value, uint32_t* to) {
#if defined(__x86_64__)
    asm("test %1, %1\n\tcmovne %2, %0" : "+r"(*to) : "r"(condition), "r"(value) : "cc");
#else
    *to ^= (*to ^ value) & (0 - static_cast<uint32_t>(condition != 0));
#endif
  }
};

class ProcessView {
 public:
  explicit ProcessView(bool has_buckets) : has_buckets_(has_buckets) {}
  ProcessView(const ProcessView&) = delete;
  ProcessView& operator=(const ProcessView&) = delete;
  // How times stand in the keys, before any is added.
  void SetTimeShift(uint32_t time_shift) { time_shift_ = time_shift; }

  // Room for rows of this many paths. The sweep works on a copy of times() between flushes.
  void Reserve(uint32_t paths);
  RowTimes* times() { return &times_; }
  void Touch(uint32_t row) { touched_.push_back(row); }
  // Adds any length of time to a row.
  void Charge(uint32_t row, int64_t elapsed_ns);

  // Moves what was added since the last flush to the phase that ends or goes on here.
  void Flush();
  void SetPhase(uint32_t phase);
  // An operation of the training loop owns the process from here on, or none does any more.
  void EnterLoop(int64_t now, const OperationPaths& paths);
  void LeaveLoop(int64_t now, const OperationPaths& paths);
  // The first name of that operation, as in LoopBeginning.
  void SetLoopName(int64_t now, uint32_t name) { stages_.beginning()->SetName(now, name); }
  // Another phase, a gap or an operation around the loop comes.
  void FollowStages();
  // After Flush: the bucket numbered `bucket` ends here.
  void EndBucket(int64_t bucket) { bucket_.End(bucket, &timeline_); }
  // After Flush: iterations begin and end here. Time in none is the part kNoIteration, which ends
  // with the process.
  void BeginIteration() { part_ = &iteration_; }
  void EndIteration(int64_t number) {
    iteration_.End(number, &iterations_);
    part_ = &no_iteration_;
  }
  void EndNoIteration() { no_iteration_.End(kNoIteration, &iterations_); }
  static constexpr int64_t kNoIteration = -1;

  // After Flush, and Reserve for these paths.
  void Carry(trace::Archive* archive, const RowLimits& limits);
  // The timeline so far goes on with buckets of 2^`doublings` times the length; `bucket` of these
  // runs.
  void CoarsenTimeline(uint32_t doublings, int64_t bucket);
  void DropTimeline() { timeline_ = SpillVector<PartRow>(); }

  const BreakdownRows& rows() const { return rows_; }
  // At the end: what LoopStages::Split gives of a row.
  const LoopStages& stages() const { return stages_; }
  // By bucket, in a bucket by row.
  SpillVector<PartRow> TakeTimeline() { return std::move(timeline_); }
  // By iteration, in an iteration by row; then those of no iteration.
  SpillVector<PartRow> TakeIterations() { return std::move(iterations_); }

 private:
  void AddTotal(uint32_t row, int64_t duration_ns, uint64_t count);
  // Up to now, flushed or not.
  LoopStages::Outside outside() const;
  LoopBeginning::Clock Clock(int64_t now, const LoopStages::Outside& outside,
                             const OperationPaths& paths);
  int64_t WarmUpNs(const OperationPaths& paths) const;
  bool HasLearned(const OperationPaths& paths) const;

  const bool has_buckets_;
  uint32_t time_shift_ = 0;
  RowTimes times_;
  std::vector<uint64_t> cells_;
  std::vector<uint32_t> touched_;
  uint32_t phase_ = 0;
  uint32_t counted_phase_ = 0;     // of the last stretch of nonzero time,
  uint32_t counted_row_ = kNoRow;  // and its row
  BreakdownRows rows_;
  LoopStages::Outside outside_;  // flushed
  int64_t not_recorded_ns_ = 0;
  // Of rows_. Warm-up lies in pauses that are followed row by row. Null: to be added up.
  std::optional<int64_t> warm_up_ns_;
  LoopStages stages_;
  PartTimes bucket_;
  SpillVector<PartRow> timeline_;
  PartTimes iteration_;
  PartTimes no_iteration_;
  PartTimes* part_ = &no_iteration_;
  SpillVector<PartRow> iterations_;
};

// The level above: buckets of twice the length, from rows sorted by bucket.
SpillVector<PartRow> CoarserTimeline(const SpillVector<PartRow>& finer);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_PROCESS_VIEW_H_
