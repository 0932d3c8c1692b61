#include "analysis/views/process_view.h"

namespace rlscope::analysis {

void ProcessView::Reserve(uint32_t paths) {
  const size_t rows = size_t{paths} * kRowsOfPath;
  if (rows <= cells_.size()) return;
  cells_.resize(2 * rows);
  if (has_buckets_) bucket_.Reserve(2 * rows);
  iteration_.Reserve(2 * rows);
  no_iteration_.Reserve(2 * rows);
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

void ProcessView::EnterLoop(int64_t now, const OperationPaths& paths) {
  if (stages_.follows()) {
    Flush();
    warm_up_ns_.reset();
  }
  LoopBeginning* const beginning = stages_.beginning();
  const bool compares = !beginning->candidates().empty();
  const LoopStages::Outside sums = compares ? outside() : LoopStages::Outside();
  if (!stages_.Enter(now, Clock(now, sums, paths))) return;
  Flush();
  HasLearned(paths) ? beginning->SetLearned() : beginning->Propose(now, rows_);
}

void ProcessView::LeaveLoop(int64_t now, const OperationPaths& paths) {
  const LoopStages::Outside sums = outside();
  stages_.Leave(now, Clock(now, sums, paths), sums);
}

bool ProcessView::HasLearned(const OperationPaths& paths) const {
  for (const BreakdownRow& row : rows_.slots()) {
    if (row.key != 0 && paths.node(PathOfRow(row.row())).learns) return true;
  }
  return false;
}

LoopBeginning::Clock ProcessView::Clock(int64_t now, const LoopStages::Outside& outside,
                                        const OperationPaths& paths) {
  if (!warm_up_ns_) warm_up_ns_ = WarmUpNs(paths);
  LoopBeginning::Clock clock = {now - not_recorded_ns_ - *warm_up_ns_, 0};
  for (const int64_t ns : outside.duration_ns) clock.idle_ns += ns;
  return clock;
}

int64_t ProcessView::WarmUpNs(const OperationPaths& paths) const {
  int64_t ns = 0;
  for (const BreakdownRow& row : rows_.slots()) {
    if (row.key != 0 && paths.node(PathOfRow(row.row())).warm_up) ns += row.duration_ns;
  }
  return ns;
}

void ProcessView::FollowStages() {
  if (stages_.follows()) return;
  Flush();
  stages_.Follow(phase_, outside_);
}

LoopStages::Outside ProcessView::outside() const {
  const uint64_t counts = (uint64_t{1} << time_shift_) - 1;
  LoopStages::Outside sums = outside_;
  for (uint32_t row = 0; row < kRowsOfPath; ++row) {
    const uint64_t cell = times_.cells[row];
    sums.duration_ns[row] += static_cast<int64_t>(cell >> time_shift_);
    sums.count[row] += cell & counts;
  }
  return sums;
}

void ProcessView::AddTotal(uint32_t row, int64_t duration_ns, uint64_t count) {
  const uint64_t key = BreakdownRow::KeyOf(phase_, row);
  BreakdownRow* total = rows_.FindOrAdd(key);
  total->duration_ns += duration_ns;
  total->count += count;
  if (PathOfRow(row) == kNoPath) {
    outside_.duration_ns[row] += duration_ns;
    outside_.count[row] += count;
  }
  if (PathOfRow(row) == kNotRecordedPath) not_recorded_ns_ += duration_ns;
  stages_.Add(key, duration_ns, count);
  part_->Add(row, duration_ns);
  if (has_buckets_) bucket_.Add(row, duration_ns);
}

// A stretch goes on only in its own phase.
void ProcessView::SetPhase(uint32_t phase) {
  phase_ = phase;
  times_.counted = phase == counted_phase_ ? counted_row_ : kNoRow;
}

SpillVector<PartRow> CoarserTimeline(const SpillVector<PartRow>& finer) {
  SpillVector<PartRow> coarser;
  const PartRow* at = finer.begin();
  while (at != finer.end()) {
    const int64_t bucket = at->part / 2;
    const PartRow* left = at;
    const PartRow* left_end = left;
    while (left_end != finer.end() && left_end->part == left->part) ++left_end;
    const PartRow* right = left_end;
    const PartRow* right_end = right;
    while (right_end != finer.end() && right_end->part / 2 == bucket) ++right_end;
    at = right_end;
    while (left != left_end || right != right_end) {
      const bool from_left = right == right_end || (left != left_end && left->row <= right->row);
      PartRow row = from_left ? *left++ : *right++;
      if (from_left && right != right_end && right->row == row.row) {
        row.duration_ns += right++->duration_ns;
      }
      coarser.push_back({bucket, row.row, row.duration_ns});
    }
  }
  return coarser;
}

// ---- archive ------------------------------------------------------------------------------------

namespace {

// `parts`: -1 is none, and stands for itself.
void CarryPartRows(trace::Archive* archive, uint64_t parts, size_t rows,
                   SpillVector<PartRow>* found) {
  const size_t count = archive->Count(found->size());
  for (size_t i = 0; i < count && archive->ok(); ++i) {
    PartRow row = archive->reads() ? PartRow() : (*found)[i];
    archive->Below(&row.part, parts);
    archive->Below(&row.row, rows);
    archive->Sum(&row.duration_ns);
    if (archive->reads() && archive->ok()) found->push_back(row);
  }
}

}  // namespace

void ProcessView::Carry(trace::Archive* archive, const RowLimits& limits) {
  const size_t rows = limits.rows();
  archive->Below(&phase_, limits.phases);
  archive->Below(&counted_phase_, limits.phases);
  archive->Number(&counted_row_);
  archive->Number(&times_.counted);
  CarryRows(archive, limits, &rows_);
  outside_.Carry(archive);
  archive->Sum(&not_recorded_ns_);
  stages_.Carry(archive, limits);
  PartTimes no_bucket;
  no_bucket.Reserve(rows);
  PartTimes* const bucket = has_buckets_ ? &bucket_ : &no_bucket;
  bucket->Carry(archive, rows);
  CarryPartRows(archive, INT64_MAX, rows, &timeline_);
  bool in_iteration = part_ == &iteration_;
  archive->Number(&in_iteration);
  part_ = in_iteration ? &iteration_ : &no_iteration_;
  iteration_.Carry(archive, rows);
  no_iteration_.Carry(archive, rows);
  CarryPartRows(archive, limits.iterations, rows, &iterations_);
}

void ProcessView::CoarsenTimeline(uint32_t doublings, int64_t bucket) {
  for (; doublings > 0; --doublings) timeline_ = CoarserTimeline(timeline_);
  while (!timeline_.empty() && timeline_.back().part >= bucket) {
    bucket_.Add(timeline_.back().row, timeline_.back().duration_ns);
    timeline_.RemoveLast();
  }
}

}  // namespace rlscope::analysis
