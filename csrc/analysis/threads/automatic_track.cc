#include "analysis/threads/automatic_track.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/format/what.h"

namespace rlscope::analysis {
namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;
// A segment that has its name from the beginning needs no group: this bit and its state.
constexpr uint32_t kNamedGroup = 1u << 31;
constexpr size_t kManyGroups = 1024;

// The resolve of segments that have none.
constexpr uint32_t kUnresolved =
    trace::WithAutoFate(trace::WithAutoFate(0, trace::kAutoInside, trace::kAutoInference),
                        trace::kAutoAside, trace::kAutoInference);
static_assert(trace::kAutoNothing == 0);

constexpr uint32_t final_states[] = {
    trace::kAutoNothing, trace::kAutoInference,  trace::kAutoBackprop,  trace::kAutoSimulation,
    trace::kAutoTarget,  trace::kAutoGeneration, trace::kAutoAdvantage, trace::kAutoReference,
    trace::kAutoReward,  trace::kAutoReplay};
constexpr uint32_t kFinalGroups = std::size(final_states);
// The group of the first state after the open ones.
constexpr uint32_t kLateGroup = trace::kAutoFirstOpen;
static_assert(final_states[kLateGroup] == trace::kAutoLastOpen + 1);

}  // namespace

AutomaticTrack::AutomaticTrack(std::unique_ptr<CpuSource> items, const ProcessInput& process,
                               const History& history)
    : items_(std::move(items)), process_(process), history_(history) {
  std::fill(std::begin(group_of_state_), std::end(group_of_state_), kNoGroup);
  for (uint32_t group = 0; group < kFinalGroups; ++group)
    groups_.push_back({group, final_states[group]});
}

// ---- what comes next ----------------------------------------------------------------------------

AutomaticTrack::Change AutomaticTrack::Next() {
  for (; skipped_ > 0; --skipped_) Take();
  const Record record = Take();
  if (record.does == Does::kNothing) return {false, 0, false};
  if (record.does == Does::kEnds) return {!GoesOn(before_), trace::kAutoNothing, false};
  const uint32_t operation = Await(record.group);
  const bool begins = !record.touches || operation != before_;
  before_ = operation;
  return {true, operation, begins};
}

AutomaticTrack::Record AutomaticTrack::Take() {
  while (records_.empty() || (is_undecided_ && before_stretch_ == 0)) {
    if (!Read()) break;
  }
  if (records_.empty()) return {0, Does::kNothing, false};
  // A stretch that is not decided by now: what may come is not here yet.
  if (is_undecided_ && before_stretch_ == 0) is_undecided_ = false;
  if (is_undecided_) --before_stretch_;
  const Record record = records_.front();
  records_.pop_front();
  return record;
}

// Whether the segment after the one that ended is a part of the same instance.
bool AutomaticTrack::GoesOn(uint32_t operation) {
  // Where nothing touches the end, ended_ns_ says so as soon as the time has passed.
  while (NextChange() == records_.size() && ended_ns_ == now_ && Read()) {
  }
  const auto awaits_stretch = [this](size_t next) {
    return is_undecided_ && next >= before_stretch_ && next < records_.size();
  };
  while (awaits_stretch(NextChange()) && Read()) {
  }
  const size_t next = NextChange();
  if (next == records_.size()) return false;
  const Record record = records_[next];
  if (record.does != Does::kBegins || !record.touches) return false;
  return Await(record.group) == operation;
}

size_t AutomaticTrack::NextChange() const {
  const auto is_change = [](const Record& record) { return record.does != Does::kNothing; };
  return std::find_if(records_.begin(), records_.end(), is_change) - records_.begin();
}

// The name of the group's segments, once it is known.
uint32_t AutomaticTrack::Await(uint32_t group) {
  // Compact() gives other numbers to groups that are still open.
  awaited_ = group;
  while (!IsFinal(awaited_) && Read()) {
  }
  const uint32_t state = StateOf(awaited_);
  if (trace::IsAutoFinal(state)) return state;
  return trace::AutoFateOf(kUnresolved, state);  // what may come is not here yet
}

// ---- reading ------------------------------------------------------------------------------------

// One batch further. False: the stream has ended, and everything has its name; or more may come.
bool AutomaticTrack::Read() {
  if (items_ == nullptr) return false;
  if (const trace::CpuBatch* batch = items_->Next()) {
    ReadBatch(*batch);
    Compact();
    return true;
  }
  if (process_.unfinished) return false;
  ResolveRest();
  items_.reset();
  return true;
}

void AutomaticTrack::ReadBatch(const trace::CpuBatch& batch) {
  if (batch.begins_after_gap) ResolveRest();
  uint32_t call = 0;
  for (uint32_t i = 0; i < batch.count; ++i) {
    const auto place = [&](int64_t time_ns) {
      return std::max(now_, std::clamp(time_ns, process_.start_ns, process_.end_ns));
    };
    now_ = place(batch.time_ns[i]);
    const bool enters = i == 0 && batch.begins_after_gap && !batch.open.empty();
    const bool is_call = trace::WhatKind(batch.what[i]) == trace::kCall;
    if (!is_call || enters) {
      const bool recorded = FollowWindow();
      explicit_ |= enters && recorded;
      ReadItem(batch.what[i], recorded);
    }
    if (is_call) now_ = place(batch.call_end_ns[call++]);
  }
}

// Goes to the window that now_ lies in, else to the next. Whether it lies in it.
bool AutomaticTrack::FollowWindow() {
  const std::vector<Window>& windows = history_.windows();
  const size_t before = window_;
  for (; window_ < windows.size(); ++window_) {
    const bool is_last = window_ + 1 == windows.size() && !history_.stopped();
    if (now_ < windows[window_].stop_ns || is_last) break;
  }
  if (window_ != before) ResolveRest();
  return window_ < windows.size() && now_ >= windows[window_].start_ns;
}

void AutomaticTrack::ReadItem(uint32_t what, bool recorded) {
  const uint32_t kind = trace::WhatKind(what), id = trace::WhatId(what);
  if (kind == trace::kAutoSegment || kind == trace::kAutoResolve) {
    if (!recorded || explicit_) {
      records_.push_back({0, Does::kNothing, false});
    } else if (kind == trace::kAutoSegment) {
      Begin(id);
    } else {
      Resolve(id);
    }
    return;
  }
  if (kind == trace::kThreadEnd || (kind == trace::kGap && recorded)) ResolveRest();
  if (kind == trace::kOperationEnter && recorded && !explicit_) {
    ResolveRest();
    explicit_ = true;
  }
}

void AutomaticTrack::Begin(uint32_t state) {
  const bool touches = runs_ || ended_ns_ == now_;
  runs_ = true;
  ended_ns_ = INT64_MIN;
  running_ = GroupOf(state);
  records_.push_back({running_, Does::kBegins, touches});
  if (is_undecided_ && state == trace::kAutoSimulation) {
    simulated_ = records_.size() - before_stretch_;
  }
}

void AutomaticTrack::Resolve(uint32_t resolve) {
  const bool was_open = runs_ && !IsFinal(running_);
  Move(resolve);
  const bool ends = was_open && IsFinal(running_);
  records_.push_back({0, ends ? Does::kEnds : Does::kNothing, false});
  FollowStretch(trace::AutoStretchOf(resolve));
  if (!ends) return;
  runs_ = false;
  ended_ns_ = now_;
}

void AutomaticTrack::FollowStretch(uint32_t what) {
  if (what == trace::kAutoStretchKeeps) return;
  if (is_undecided_ && what == trace::kAutoStretchWasEvaluation) NameStretch();
  is_undecided_ = what == trace::kAutoStretchBegins;
  before_stretch_ = records_.size();
  simulated_ = 0;
}

// How many records of a stretch without a step lie before its last forward, with that.
size_t AutomaticTrack::Forwarded() {
  for (size_t count = records_.size() - before_stretch_; count > 0; --count) {
    const Record& record = records_[before_stretch_ + count - 1];
    if (record.does == Does::kBegins && trace::IsAutoForward(StateOf(record.group))) return count;
  }
  return 0;
}

// What began before the stretch may still end in it. If its last segment runs, no resolve ends it
// any more.
void AutomaticTrack::NameStretch() {
  bool began = false;
  const size_t end = before_stretch_ + (simulated_ != 0 ? simulated_ : Forwarded());
  for (size_t i = before_stretch_; i < end; ++i) {
    Record& record = records_[i];
    if (record.does == Does::kBegins) {
      record.group = kNamedGroup | trace::kAutoEvaluation;
      record.touches |= began;
      began = true;
    } else if (began) {
      record.does = Does::kNothing;
    }
  }
  const bool goes_on = std::all_of(records_.begin() + static_cast<ptrdiff_t>(end), records_.end(),
                                   [](const Record& each) { return each.does == Does::kNothing; });
  if (began && goes_on) running_ = kNamedGroup | trace::kAutoEvaluation;
}

// Nothing that comes later concerns the segments until now.
void AutomaticTrack::ResolveRest() {
  Move(kUnresolved);
  is_undecided_ = false;
  runs_ = false;
  ended_ns_ = INT64_MIN;
}

// ---- groups -------------------------------------------------------------------------------------

uint32_t AutomaticTrack::GroupOf(uint32_t state) {
  if (state < trace::kAutoFirstOpen) return state;
  if (state >= trace::kAutoNamed) return kNamedGroup | state;
  if (state > trace::kAutoLastOpen) return kLateGroup + state - trace::kAutoLastOpen - 1;
  uint32_t& group = group_of_state_[state];
  if (group == kNoGroup) {
    group = static_cast<uint32_t>(groups_.size());
    groups_.push_back({group, state});
  }
  return group;
}

uint32_t AutomaticTrack::Find(uint32_t group) {
  while (groups_[group].parent != group) {
    groups_[group].parent = groups_[groups_[group].parent].parent;
    group = groups_[group].parent;
  }
  return group;
}

uint32_t AutomaticTrack::StateOf(uint32_t group) {
  return (group & kNamedGroup) != 0 ? group & ~kNamedGroup : groups_[Find(group)].state;
}

// All open states at once: what one moves to another state does not move on from there.
void AutomaticTrack::Move(uint32_t resolve) {
  uint32_t moved[trace::kAutoStates];
  std::copy(std::begin(group_of_state_), std::end(group_of_state_), moved);
  std::fill(std::begin(group_of_state_), std::end(group_of_state_), kNoGroup);
  for (uint32_t state = trace::kAutoFirstOpen; state <= trace::kAutoLastOpen; ++state) {
    const uint32_t group = moved[state];
    if (group == kNoGroup) continue;
    const uint32_t target = trace::AutoFateOf(resolve, state);
    if (trace::IsAutoOpen(target) && group_of_state_[target] == kNoGroup) {
      group_of_state_[target] = group;
      groups_[group].state = target;
    } else {
      groups_[group].parent = GroupOf(target);
    }
  }
}

// Drops groups that are not asked for any more.
void AutomaticTrack::Compact() {
  if (groups_.size() < kManyGroups || groups_.size() < 2 * records_.size()) return;
  std::vector<Group> kept(groups_.begin(), groups_.begin() + kFinalGroups);
  std::vector<uint32_t> number(groups_.size(), kNoGroup);
  const auto keep = [&](uint32_t* group) {
    if ((*group & kNamedGroup) != 0) return;
    const uint32_t root = Find(*group);
    if (root >= kFinalGroups && number[root] == kNoGroup) {
      number[root] = static_cast<uint32_t>(kept.size());
      kept.push_back({number[root], groups_[root].state});
    }
    *group = root < kFinalGroups ? root : number[root];
  };
  for (Record& record : records_) keep(&record.group);
  for (uint32_t& group : group_of_state_) {
    if (group != kNoGroup) keep(&group);
  }
  keep(&running_);
  keep(&awaited_);
  groups_ = std::move(kept);
}

// ---- archive ------------------------------------------------------------------------------------

void AutomaticTrack::CarryGroup(trace::Archive* archive, uint32_t* group) const {
  archive->Number(group);
  const bool is_named = (*group & kNamedGroup) != 0 && (*group & ~kNamedGroup) >= trace::kAutoNamed;
  if (!is_named && *group >= groups_.size()) archive->Fail();
  if (!archive->ok()) *group = 0;
}

// The final states are there already. Groups that were united are written as one.
void AutomaticTrack::CarryGroups(trace::Archive* archive) {
  const size_t count = archive->Count(groups_.size() - kFinalGroups);
  groups_.resize(kFinalGroups + count);
  for (uint32_t i = kFinalGroups; i < groups_.size(); ++i) {
    uint32_t root = archive->reads() ? 0 : Find(i);
    archive->Below(&root, groups_.size());
    archive->Below(&groups_[i].state, trace::kAutoStates);
    groups_[i].parent = root;
  }
  for (const Group& group : groups_) {
    if (groups_[group.parent].parent != group.parent) archive->Fail();
  }
  for (uint32_t& group : group_of_state_) {
    bool is_known = group != kNoGroup;
    archive->Number(&is_known);
    if (!is_known) group = kNoGroup;
    if (!is_known) continue;
    if (archive->reads()) group = 0;
    CarryGroup(archive, &group);
    if (group < kFinalGroups || group >= groups_.size()) archive->Fail();
    if (!archive->ok()) group = kNoGroup;
  }
}

void AutomaticTrack::Carry(trace::Archive* archive, const ResumeItems& resume) {
  trace::CursorPlace place;
  if (!archive->reads()) {
    for (; skipped_ > 0; --skipped_) Take();
    place = items_->after();
  }
  place.Carry(archive);
  if (archive->reads()) items_ = resume(place);
  archive->Time(&now_);
  archive->Number(&window_);
  archive->Number(&explicit_);
  archive->Number(&runs_);
  archive->Time(&ended_ns_);
  CarryGroups(archive);
  CarryGroup(archive, &running_);
  CarryGroup(archive, &awaited_);
  records_.resize(archive->Count(records_.size()));
  for (Record& record : records_) {
    CarryGroup(archive, &record.group);
    archive->Below(&record.does, 3);
    archive->Number(&record.touches);
  }
  archive->Number(&before_);
  archive->Number(&is_undecided_);
  archive->Number(&before_stretch_);
  archive->Number(&simulated_);
  const bool is_inside =
      before_stretch_ <= records_.size() && simulated_ <= records_.size() - before_stretch_;
  if (is_undecided_ && !is_inside) archive->Fail();
  if (!archive->ok()) is_undecided_ = false;
}

}  // namespace rlscope::analysis
