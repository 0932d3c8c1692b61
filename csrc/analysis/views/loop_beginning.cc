#include "analysis/views/loop_beginning.h"

#include <algorithm>

namespace rlscope::analysis {

void LoopBeginning::Propose(int64_t now, const BreakdownRows& before) {
  proposed_.emplace();
  proposed_->number = made_++;
  proposed_->end_ns = now;
  proposed_->length_ns = entered_.recorded_ns - left_.recorded_ns;
  for (const BreakdownRow& row : before.slots()) {
    if (row.key != 0) *proposed_->before.FindOrAdd(row.key) = row;
  }
}

void LoopBeginning::Leave(const Clock& clock, bool lasted) {
  if (lasted) {
    if (stretches_ == 0) begun_ns_ = entered_.recorded_ns;
    if (stretches_ > 0) Compare(entered_.idle_ns - left_.idle_ns);
    if (proposed_) candidates_.push_back(std::move(*proposed_));
    ++stretches_;
    left_ = clock;
  }
  proposed_.reset();
}

// With the pause before the stretch.
void LoopBeginning::Compare(int64_t idle_ns) {
  for (Candidate& candidate : candidates_) {
    candidate.alike += IsPartOf(idle_ns, candidate.length_ns, kAlikePart);
  }
  const auto comes_again = [](const Candidate& each) { return each.alike > kMostAlike; };
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), comes_again),
                    candidates_.end());
}

void LoopBeginning::ChangeName(int64_t now, uint32_t name) {
  if (name_ != kNoName && now > named_ns_) {
    if (name_ >= known_names_.size()) known_names_.resize(name_ + 1);
    if (!known_names_[name_]) newest_ns_ = named_ns_;
    known_names_[name_] = true;
  }
  name_ = name;
  named_ns_ = now;
}

const LoopBeginning::Candidate* LoopBeginning::LastSetUp() const {
  const auto something_new_follows = [&](const Candidate& each) {
    return each.end_ns <= newest_ns_;
  };
  const auto last = std::find_if(candidates_.rbegin(), candidates_.rend(), something_new_follows);
  return last == candidates_.rend() ? nullptr : &*last;
}

// ---- archive ------------------------------------------------------------------------------------

void LoopBeginning::Clock::Carry(trace::Archive* archive) {
  archive->Time(&recorded_ns);
  archive->Sum(&idle_ns);
}

void LoopBeginning::CarryNames(trace::Archive* archive, const RowLimits& limits) {
  size_t known = known_names_.size();
  archive->Below(&known, limits.paths + 1);
  known_names_.resize(known);
  for (size_t name = 0; name < known && archive->ok(); ++name) {
    bool is_known = known_names_[name];
    archive->Number(&is_known);
    known_names_[name] = is_known;
  }
  uint32_t after_name = name_ + 1;  // 0: none
  archive->Below(&after_name, limits.paths + 1);
  name_ = after_name - 1;
  archive->Time(&named_ns_);
  archive->Time(&newest_ns_);
}

void LoopBeginning::Carry(trace::Archive* archive, const RowLimits& limits) {
  archive->Number(&stretches_);
  archive->Number(&learned_);
  archive->Time(&begun_ns_);
  entered_.Carry(archive);
  left_.Carry(archive);
  archive->Number(&made_);
  CarryNames(archive, limits);
  bool is_proposed = proposed_.has_value();
  archive->Number(&is_proposed);
  size_t count = candidates_.size();
  archive->Below(&count, kMostCandidates);
  const auto carry = [&](Candidate* candidate) {
    archive->Number(&candidate->number);
    archive->Time(&candidate->end_ns);
    archive->Sum(&candidate->length_ns);
    archive->Number(&candidate->alike);
    CarryRows(archive, limits, &candidate->before);
  };
  if (archive->reads() && is_proposed) proposed_.emplace();
  if (proposed_) carry(&*proposed_);
  if (archive->reads()) candidates_.resize(count);
  for (Candidate& candidate : candidates_) carry(&candidate);
}

}  // namespace rlscope::analysis
