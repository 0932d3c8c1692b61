#include "python/runtime_module/evaluations.h"

#include <algorithm>

namespace rlscope::python {

trace::AutoStretch Evaluations::Step(const void* environment, uint64_t forwards) {
  is_used_ = true;
  if (is_in_call_) return GoOn(forwards);
  const bool is_learned = HasLearned(environment);
  if (is_undecided_ && !is_learned) return GoOn(forwards);
  if (is_undecided_ && environment != trainer_) acts_ = false;
  const trace::AutoStretch was = Decide();
  const bool leaves = last_ == trainer_ || was_long_;
  is_shared_ |= last_ != nullptr && last_ != environment;
  usual_ = last_ = environment;
  if (is_learned || !leaves || fed_ < kEnough || !was_alone_) return was;
  forwards_ = forwards;
  return Begin();
}

trace::AutoStretch Evaluations::BeginCall(const void* environment, bool is_sure) {
  is_used_ = is_in_call_ = true;
  of_call_ = environment;
  is_sure_ = is_sure;
  return Begin();
}

trace::AutoStretch Evaluations::EndCall(bool evaluates) {
  acts_ = evaluates;
  const trace::AutoStretch was = Decide();
  if (!evaluates && of_call_ != nullptr) last_ = of_call_;
  usual_ = last_;
  of_call_ = nullptr;
  is_in_call_ = was_long_ = false;
  return was;
}

trace::AutoStretch Evaluations::Update() {
  acts_ = false;
  const trace::AutoStretch was = Decide();
  if (last_ == nullptr) return was;
  if (last_ != trainer_) Learn();
  fed_ = std::min(fed_ + 1, kEnough);
  was_alone_ |= !is_shared_;
  is_shared_ = was_long_ = false;
  usual_ = last_;
  return was;
}

trace::AutoStretch Evaluations::GoOn(uint64_t forwards) {
  if (!is_undecided_) return Begin();  // the call has had a long one
  acts_ |= is_in_call_ ? is_sure_ : forwards != forwards_;
  if (++steps_ < kMostSteps) return trace::kAutoStretchKeeps;
  was_long_ = true;
  return Decide();
}

trace::AutoStretch Evaluations::Begin() {
  usual_ = nullptr;
  is_undecided_ = true;
  was_long_ = acts_ = false;
  steps_ = 0;
  return trace::kAutoStretchBegins;
}

trace::AutoStretch Evaluations::Decide() {
  if (!is_undecided_) return trace::kAutoStretchKeeps;
  is_undecided_ = false;
  return acts_ ? trace::kAutoStretchWasEvaluation : trace::kAutoStretchWasNone;
}

void Evaluations::Learn() {
  trainer_ = last_;
  fed_ = 0;
  was_alone_ = false;
  if (HasLearned(trainer_)) return;
  if (learned_count_ < kMostLearned) learned_[learned_count_] = trainer_;
  ++learned_count_;
}

// Of too many, any may have been one.
bool Evaluations::HasLearned(const void* environment) const {
  const void* const* end = learned_ + std::min(learned_count_, kMostLearned);
  return learned_count_ > kMostLearned || std::find(learned_, end, environment) != end;
}

}  // namespace rlscope::python
