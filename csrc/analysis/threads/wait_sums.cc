#include "analysis/threads/wait_sums.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rlscope::analysis {
namespace {

// The last cut before `end_ns`; INT64_MIN: none.
int64_t LastBefore(const std::vector<int64_t>& cuts, int64_t end_ns) {
  const auto after = std::lower_bound(cuts.begin(), cuts.end(), end_ns);
  return after == cuts.begin() ? INT64_MIN : *(after - 1);
}

// Those that a wait can follow that ends at `now` or later: waits of a process that ends are closed
// after all else of that instant.
void Forget(std::vector<int64_t>* cuts, int64_t now) {
  const auto after = std::lower_bound(cuts->begin(), cuts->end(), now);
  if (after != cuts->begin()) cuts->erase(cuts->begin(), after - 1);
}

void CarrySum(trace::Archive* archive, CallSum* sum) {
  archive->Number(&sum->count);
  archive->Sum(&sum->duration_ns);
  archive->Sum(&sum->self_ns);
}

void CarryMark(trace::Archive* archive, WaitSums::Row::Mark* mark) {
  archive->Time(&mark->cut_ns);
  CarrySum(archive, &mark->sum);
}

void CarryRow(trace::Archive* archive, WaitSums::Row* row) {
  CarrySum(archive, &row->whole);
  row->begins.resize(archive->Count(row->begins.size()));
  for (WaitSums::Row::Mark& mark : row->begins) CarryMark(archive, &mark);
  CarryMark(archive, &row->end);
}

void CarryTimes(trace::Archive* archive, std::vector<int64_t>* times) {
  times->resize(archive->Count(times->size()));
  for (int64_t& time : *times) archive->Time(&time);
}

}  // namespace

CallSum WaitSums::Row::Before(int64_t begin_ns) const {
  for (const Mark& mark : begins) {
    if (mark.cut_ns >= begin_ns) return mark.sum;
  }
  return whole;
}

CallSum WaitSums::Row::After(int64_t end_ns) const {
  return end.cut_ns >= end_ns ? whole.Without(end.sum) : CallSum();
}

void WaitSums::Row::Add(const Row& other) {
  std::set<int64_t> cuts;
  for (const std::vector<Mark>& marks : {begins, other.begins}) {
    for (const Mark& mark : marks) cuts.insert(mark.cut_ns);
  }
  std::vector<Mark> merged;
  for (const int64_t cut_ns : cuts) {
    merged.push_back({cut_ns, Before(cut_ns)});
    merged.back().sum.Add(other.Before(cut_ns));
  }
  begins = std::move(merged);
  const int64_t last_ns = std::max(end.cut_ns, other.end.cut_ns);
  CallSum until = whole.Without(After(last_ns));
  until.Add(other.whole.Without(other.After(last_ns)));
  end = {last_ns, until};
  whole.Add(other.whole);
}

void WaitSums::Resolve(int64_t now) {
  const auto is_counted = [&](const NativeCall& wait) {
    if (wait.end_ns() > now) return false;
    Count(wait);
    return true;
  };
  ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_counted), ended_.end());
  Forget(&begins_, now);
  Forget(&ends_, now);
}

void WaitSums::Count(const NativeCall& wait) {
  const auto series = series_.find(wait.thread);
  const NativeCall* const turn = series == series_.end() ? nullptr : &series->second.last;
  if (polls_.IsPassedOver(wait, turn)) return AddTo(&rows_[KeyOf(wait)], wait);
  const bool goes_on = turn != nullptr && polls_.GoesOn(*turn, wait);
  const bool is_turn = polls_.IsTurn(wait);
  if (turn != nullptr && !(goes_on && is_turn)) {
    rows_[KeyOf(goes_on ? wait : series->second.last)].Add(series->second.row);
    series_.erase(series);
  }
  if (!is_turn) return AddTo(&rows_[KeyOf(wait)], wait);
  Series* const open = &series_[wait.thread];
  open->last = wait;
  AddTo(&open->row, wait);
}

void WaitSums::AddTo(Row* row, const NativeCall& wait) const {
  const int64_t begin_ns = LastBefore(begins_, wait.end_ns());
  const int64_t known_ns = row->begins.empty() ? INT64_MIN : row->begins.back().cut_ns;
  if (begin_ns > known_ns) row->begins.push_back({begin_ns, row->whole});
  const int64_t end_ns = LastBefore(ends_, wait.end_ns());
  if (end_ns > row->end.cut_ns) row->end = {end_ns, row->whole};
  row->whole.Add({1, wait.duration_ns, wait.self_ns});
}

void WaitSums::Finish() {
  for (const auto& [thread, series] : series_) rows_[KeyOf(series.last)].Add(series.row);
  series_.clear();
}

void WaitSums::Carry(trace::Archive* archive, uint32_t paths) {
  std::vector<std::pair<WaitKey, Row>> rows(rows_.begin(), rows_.end());
  rows.resize(archive->Count(rows.size()));
  for (auto& [key, row] : rows) {
    auto& [thread, function, path] = key;
    archive->Number(&thread);
    archive->Number(&function);
    archive->Below(&path, paths);
    CarryRow(archive, &row);
  }
  rows_ = {rows.begin(), rows.end()};
  CarrySeries(archive, paths);
  CarryTimes(archive, &begins_);
  CarryTimes(archive, &ends_);
}

void WaitSums::CarrySeries(trace::Archive* archive, uint32_t paths) {
  std::vector<std::pair<uint32_t, Series>> series(series_.begin(), series_.end());
  series.resize(archive->Count(series.size()));
  for (auto& [thread, open] : series) {
    NativeCall* const last = &open.last;
    archive->Number(&thread);
    archive->Number(&last->function);
    archive->Below(&last->path, paths);
    archive->Time(&last->start_ns);
    archive->Sum(&last->duration_ns);
    last->thread = thread;
    if (archive->reads() && !polls_.IsTurn(*last)) archive->Fail();
    CarryRow(archive, &open.row);
  }
  if (archive->ok()) series_ = {series.begin(), series.end()};
}

}  // namespace rlscope::analysis
