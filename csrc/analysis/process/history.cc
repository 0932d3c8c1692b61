#include "analysis/process/history.h"

#include <string.h>

#include <algorithm>
#include <unordered_map>

#include "trace/format/name_kind.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

// Walks the items once. Everything of the process ends with its window.
class HistoryBuilder {
 public:
  HistoryBuilder(int64_t start_ns, int64_t end_ns, const std::vector<trace::Name>& names,
                 History* history)
      : start_ns_(start_ns), end_ns_(std::max(start_ns, end_ns)), history_(history) {
    history_->phase_names_.push_back("(none)");
    for (const trace::Name& name : names) {
      if (name.kind == static_cast<uint32_t>(trace::NameKind::kPhase)) texts_[name.id] = name.text;
    }
  }

  void Build(const SpillVector<ProcessItem>& items) {
    if (RecordsFromTheStart(items)) StartWindow(start_ns_);
    for (Item item = items.begin(); item != items.end();) item = AddSameTime(item, items.end());
    history_->stopped_ = !recording_;
    if (recording_) StopWindow(end_ns_);
    FindIterationSpans();
    if (explicit_begun_) history_->counted_kind_ = IterationKind::kExplicit;
  }

 private:
  using Item = const ProcessItem*;

  // All items of the first one's time, windows before the rest: a window holds its start and not
  // its stop, whichever record came first. Returns the first item after them.
  Item AddSameTime(Item first, Item end) {
    const int64_t now = Clamp(first->time_ns);
    Item last = first;
    while (last != end && Clamp(last->time_ns) == now) ++last;
    for (Item item = first; item != last; ++item) {
      if (IsWindow(*item)) SwitchWindow(item->kind == trace::kWindowStart, now);
    }
    for (Item item = first; item != last; ++item) {
      if (recording_ && !IsWindow(*item)) AddRecorded(*item, now);
    }
    return last;
  }

  static bool IsWindow(const ProcessItem& item) {
    return item.kind == trace::kWindowStart || item.kind == trace::kWindowStop;
  }

  static bool RecordsFromTheStart(const SpillVector<ProcessItem>& items) {
    for (const ProcessItem& item : items) {
      if (item.kind == trace::kWindowStart) return false;
      if (item.kind == trace::kWindowStop) return true;
    }
    return true;
  }

  int64_t Clamp(int64_t time_ns) const { return std::clamp(time_ns, start_ns_, end_ns_); }

  // A start while recording and a stop while not are ignored.
  void SwitchWindow(bool on, int64_t now) {
    if (on == recording_) return;
    if (on) {
      StartWindow(now);
    } else {
      StopWindow(now);
    }
  }

  void AddRecorded(const ProcessItem& item, int64_t now) {
    switch (item.kind) {
      case trace::kPhase:
        return BeginPhase(item.id, now);
      case trace::kIteration:
        return BeginIteration(item, now);
      case trace::kProgressTotal:
        total_[item.thread] = AsDouble(item.value);
        return;
      case trace::kProgressDone:
        history_->progress_.push_back({now, AsDouble(item.value), total_[item.thread]});
        return;
    }
  }

  void StartWindow(int64_t now) {
    recording_ = true;
    history_->windows_.push_back({now, now});
    AddEdge(now, 0);
  }

  void StopWindow(int64_t now) {
    EndPhase(now);
    EndIteration(now, /*complete=*/false, /*gpu_recorded=*/false);
    recording_ = false;
    history_->windows_.back().stop_ns = now;
    AddEdge(now, 0);
  }

  void BeginPhase(uint32_t id, int64_t now) {
    EndPhase(now);
    const uint32_t row = id == 0 ? 0 : PhaseRowOf(id);
    if (row != 0) {
      history_->phases_.push_back({row, now, now});
      in_phase_ = true;
    }
    AddEdge(now, row);
  }

  void EndPhase(int64_t now) {
    if (in_phase_) history_->phases_.back().end_ns = now;
    in_phase_ = false;
  }

  void BeginIteration(const ProcessItem& item, int64_t now) {
    const bool automatic = (item.id & trace::kIterationAutomatic) != 0;
    if (automatic && explicit_begun_) return;
    int64_t* owner = automatic ? &automatic_owner_ : &explicit_owner_;
    if (*owner < 0) *owner = item.thread;
    if (*owner != item.thread) {
      ++history_->ignored_iterations_;
      return;
    }
    EndIteration(now, /*complete=*/true, (item.id & trace::kIterationBeforeUnseen) == 0);
    explicit_begun_ = explicit_begun_ || !automatic;
    history_->iterations_.push_back({now, now, false, automatic, false});
    in_iteration_ = true;
  }

  void EndIteration(int64_t now, bool complete, bool gpu_recorded) {
    if (!in_iteration_) return;
    IterationRow* const row = &history_->iterations_.back();
    row->end_ns = now;
    row->complete = complete;
    row->gpu_recorded = gpu_recorded;
    in_iteration_ = false;
  }

  void FindIterationSpans() {
    std::vector<IterationSpan>* const spans = &history_->iteration_spans_;
    for (const IterationRow& row : history_->iterations_) {
      const bool is_last = &row == &history_->iterations_.back();
      if (!row.complete && !is_last) continue;
      const IterationKind kind = !row.complete   ? IterationKind::kRunning
                                 : row.automatic ? IterationKind::kAutomatic
                                                 : IterationKind::kExplicit;
      if (spans->empty() || spans->back().end_ns != row.start_ns || spans->back().kind != kind) {
        spans->push_back({row.start_ns, row.start_ns, kind});
      }
      spans->back().end_ns = row.end_ns;
    }
  }

  void AddEdge(int64_t now, uint32_t phase) {
    history_->edges_.push_back({now, phase, recording_});
  }

  uint32_t PhaseRowOf(uint32_t id) {
    const auto text = texts_.find(id);
    const std::string name = text == texts_.end() ? "(unknown)" : text->second;
    const auto [entry, added] = rows_.try_emplace(name, history_->phase_names_.size());
    if (added) history_->phase_names_.push_back(name);
    return entry->second;
  }

  static double AsDouble(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }

  const int64_t start_ns_;
  const int64_t end_ns_;
  History* const history_;
  std::unordered_map<uint32_t, std::string> texts_;
  std::unordered_map<std::string, uint32_t> rows_;
  std::unordered_map<uint32_t, double> total_;  // by thread
  bool recording_ = false;
  bool in_phase_ = false;
  bool in_iteration_ = false;
  bool explicit_begun_ = false;
  int64_t explicit_owner_ = -1;
  int64_t automatic_owner_ = -1;
};

History::History(int64_t start_ns, int64_t end_ns, const SpillVector<ProcessItem>& items,
                 const std::vector<trace::Name>& names) {
  HistoryBuilder(start_ns, end_ns, names, this).Build(items);
}

bool History::has_gaps() const {
  for (size_t i = 1; i < windows_.size(); ++i) {
    if (windows_[i].start_ns > windows_[i - 1].stop_ns) return true;
  }
  return false;
}

int64_t History::IterationAt(int64_t time_ns) const {
  const IterationRow* after =
      std::upper_bound(iterations_.begin(), iterations_.end(), time_ns,
                       [](int64_t time, const IterationRow& row) { return time < row.start_ns; });
  if (after == iterations_.begin()) return -1;
  const IterationRow* row = after - 1;
  // What begins at the end of the process still happens, in the iteration of the last window.
  const bool runs_to_end = !row->complete && row->start_ns >= windows_.back().start_ns;
  const bool inside = time_ns < row->end_ns || (runs_to_end && time_ns == end_ns());
  return inside ? row - iterations_.begin() : -1;
}

}  // namespace rlscope::analysis
