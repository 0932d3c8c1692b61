#include "analysis/threads/wait_sums.h"

#include <algorithm>
#include <utility>

namespace rlscope::analysis {
namespace {

// The last cut before `end_ns`; INT64_MIN: none.
int64_t LastBefore(const std::vector<int64_t>& cuts, int64_t end_ns) {
  const auto after = std::lower_bound(cuts.begin(), cuts.end(), end_ns);
  return after == cuts.begin() ? INT64_MIN : *(after - 1);
}

void KeepLast(std::vector<int64_t>* cuts) {
  if (cuts->size() > 1) cuts->erase(cuts->begin(), cuts->end() - 1);
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

void WaitSums::Add(const WaitKey& key, int64_t end_ns, const CallSum& sum) {
  const bool goes_on =
      !ended_.empty() && ended_.back().key == key && ended_.back().end_ns == end_ns;
  if (goes_on) return ended_.back().sum.Add(sum);
  ended_.push_back({key, end_ns, sum});
}

void WaitSums::Resolve(int64_t now) {
  const auto is_counted = [&](const Ended& wait) {
    if (wait.end_ns > now) return false;
    Count(wait);
    return true;
  };
  ended_.erase(std::remove_if(ended_.begin(), ended_.end(), is_counted), ended_.end());
  KeepLast(&begins_);
  KeepLast(&ends_);
}

void WaitSums::Count(const Ended& wait) {
  Row* const row = &rows_[wait.key];
  const int64_t begin_ns = LastBefore(begins_, wait.end_ns);
  const int64_t known_ns = row->begins.empty() ? INT64_MIN : row->begins.back().cut_ns;
  if (begin_ns > known_ns) row->begins.push_back({begin_ns, row->whole});
  const int64_t end_ns = LastBefore(ends_, wait.end_ns);
  if (end_ns > row->end.cut_ns) row->end = {end_ns, row->whole};
  row->whole.Add(wait.sum);
}

void WaitSums::Carry(trace::Archive* archive, uint32_t paths) {
  std::vector<std::pair<WaitKey, Row>> rows(rows_.begin(), rows_.end());
  rows.resize(archive->Count(rows.size()));
  for (auto& [key, row] : rows) {
    auto& [thread, function, path] = key;
    archive->Number(&thread);
    archive->Number(&function);
    archive->Below(&path, paths);
    CarrySum(archive, &row.whole);
    row.begins.resize(archive->Count(row.begins.size()));
    for (Row::Mark& mark : row.begins) CarryMark(archive, &mark);
    CarryMark(archive, &row.end);
  }
  rows_ = {rows.begin(), rows.end()};
  CarryTimes(archive, &begins_);
  CarryTimes(archive, &ends_);
}

}  // namespace rlscope::analysis
