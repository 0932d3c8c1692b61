// The automatic track in code that counts apart: compiled functions, libraries' own updates,
// evaluations and the like, compilations and imports.
#include "python/runtime_module/compiled_table.h"
#include "python/runtime_module/results.h"
#include "python/runtime_module/reward_functions.h"
#include "python/runtime_module/track_steps.h"

namespace rlscope::python {

// ---- C, V and J ---------------------------------------------------------------------------------

namespace {

// A C that goes on from its own results, without any observation: no step followed it.
bool KeepsToItself(PyObject* function, const Arguments& call) {
  CompiledSlot* slot = FindCompiled(function);
  if (slot->function == nullptr || !IsGivenOwnResults(call, slot)) return false;
  __atomic_store_n(&slot->acts, 0, __ATOMIC_RELAXED);
  return true;
}

}  // namespace

void Track::BeginCompiled(PyObject* function, const Arguments& call) {
  EndExchange();
  called_ = function;
  if (has_environment && IsQuiet(function)) {
    compiled_is_ = Runs::kChanges;
    return EndImport();
  }
  compiled_is_ = Runs::kOther;
  ++policy_calls_.forwards;
  if (!has_environment) LookForEnvironments();
  if ((compilation_ | apart_) != 0 || IsPartOfOther() || !Follows()) return;
  if (!has_environment) return BeginNamed(NameOfCompiled(function));
  const uint32_t name = NameOfTraining(function);
  if (name == 0 && KeepsToItself(function, call)) return BeginNamed(NameOfCompiled(function));
  compiled_is_ = name == 0 ? Runs::kForward : Runs::kTraining;
  NoteCalled(FindCompiled(function), name != 0);
  name == 0 ? BeginCompiledForward(function) : BeginTraining(name);
}

// JAX computes in order. What is called after an update waits for that first.
inline void Track::NoteCalled(const CompiledSlot* called, bool trains) {
  if (trains) {
    unawaited_ = called;
    after_update_ = nullptr;
  } else if (unawaited_ != nullptr) {
    after_update_ = called;
  }
}

void Track::EndCompiled() {
  const bool trains = called_ != nullptr && NameOfTraining(called_) != 0;
  if (trains) CountStep();
  called_ = nullptr;
  EndPhases();
  switch (compiled_is_) {
    case Runs::kForward:
      return EndCompiledForward(trains);
    case Runs::kTraining:
      return EndTraining();
    case Runs::kChanges:
      if (!trains && MayChange()) NoteChanges(kManyChanges);
      return;
    case Runs::kOther:
      return EndNamed();
  }
}

void Track::BeginCompiledForward(PyObject* function) {
  run_.End();
  gives_scores_ = false;
  if (__builtin_expect(acts_first_ && has_output_, 0)) NameChosen();
  OpenForward({}, function, /*on=*/false);
  CompiledSlot* slot = FindCompiled(function);
  last_compiled_ = slot->function == nullptr ? nullptr : slot;
}

// `trains`: what was an F computes gradients.
void Track::EndCompiledForward(bool trains) {
  if (!trains) return EndForward();
  if (!Follows() || !IsInForward(state_)) return;  // of another window
  ResolveAndRun(WithAutoStretch(NameAllOfUpdate(), NoteUpdate()), kAutoTail);
  NoteTrained();
  Decide(Expects::kMoreSteps);
}

// A B and an O in one.
void Track::BeginTraining(uint32_t name) {
  const uint32_t stretch = NoteUpdate();
  if (HasOpen() || stretch != kAutoStretchKeeps) {
    const bool goes_on = simulates_ && !prepares_;
    prepares_ = false;
    const uint32_t resolve = NameAllOfUpdate(goes_on ? kAutoBackprop : kAutoNothing);
    Resolve(WithAutoStretch(resolve, stretch));
  }
  Decide(Expects::kNothing);
  BeginNamed(name);
  before_named_ = kAutoTail;
  NoteTrained();
}

inline void Track::NoteTrained() {
  loop_generation_ = Load(rlscope_process.generation);
  updated_ = true;
  generated_ = false;
}

void Track::EndTraining() {
  EndNamed();
  if (state_ == kAutoTail) Decide(Expects::kMoreSteps);  // else of another window
}

void Track::BeginLibraryTraining() {
  library_trains_ = has_environment && !IsInsideCode() && !IsPartOfOther() && Follows();
  if (!library_trains_) return;
  BeginTraining(NameOfOperation("update"));
  ++apart_;
}

void Track::EndLibraryTraining() {
  if (!library_trains_) return;
  library_trains_ = false;
  if (--apart_ == 0) EndTraining();
}

void Track::BeginApart(const char* name) {
  if (IsInsideCode() || IsPartOfOther() || !Follows()) return;
  if (!has_environment) NoteAlone(/*forwards=*/0);
  BeginNamed(NameOfOperation(name));
}

// Whether the block or forward that begins is an R.
bool Track::BeginReward(Reward kind) {
  TellingFunction* const function = simulates_ ? FindRewardFunction() : nullptr;
  if (function == nullptr) return false;
  rewards_ = function;
  reward_is_ = kind;
  if (expects_ == Expects::kForward && Follows() && expects_ == Expects::kForward) {
    Resolve(WithAutoFate(kAutoKeepAll, kAutoBetween, kAutoReward));  // what it is given
    expects_ = Expects::kNothing;
    converts_ = has_key_ = is_unproven_ = false;
  }
  EnterApart("reward");
  return true;
}

void Track::EndReward() {
  reward_is_ = Reward::kNone;
  reward_block_ = nullptr;
  LeaveApart();
}

// An S begins, the first one after an R.
__attribute__((noinline)) void Track::EndRewardByStep() {
  if (rewards_->IsRunning()) rewards_->Reject();
  rewards_ = nullptr;
  if (reward_is_ != Reward::kNone) EndReward();
}

void Track::BeginGeneration() {
  if (IsInsideCode() || IsPartOfOther()) return;
  generated_ = true;
  if (!Follows()) return;
  if (!has_environment) NoteAlone(/*forwards=*/kEvaluates);
  elsewhere_.Look(evaluates_ != nullptr);
  elsewhere_.Act();
  BeginState("generation", kAutoGeneration);
}

void Track::BeginNamed(uint32_t name) {
  if (name == 0) return;
  name_ = name;
  before_named_ = state_;
  Run(kAutoNamed + name);
}

void Track::EndNamed() {
  if (name_ == 0 || IsInsideCode()) return;
  name_ = 0;
  if (state_ != kAutoNamed || !Follows()) return;
  if (state_ == kAutoNamed) Run(before_named_);  // else of another window
}

// A segment of a state that others have too: a batch and its tail are one instance.
void Track::BeginState(const char* name, uint32_t state) {
  if (IsInsideCode() || IsPartOfOther() || !Follows()) return;
  name_ = NameOfOperation(name);
  before_named_ = state_;
  Run(state);
  state_ = kAutoNamed;
}

// The end of a G. It goes on as a D, which says nothing of an S.
void Track::EndSampling() {
  if (name_ == 0 || IsInsideCode()) return EndNamed();
  name_ = 0;
  if (state_ != kAutoNamed || !Follows() || state_ != kAutoNamed) return;  // of another window
  state_ = before_named_;
  if (OpenDraw()) {
    is_batch_ = true;
  } else {
    Run(before_named_);
  }
}

void Track::BeginCompilation() {
  if (before_compilation_ != kAutoStates) return;  // its next phase
  if (IsInsideApart() || !Follows()) return;
  const uint32_t name = NameOfOperation("compilation");
  if (name == 0) return;
  before_compilation_ = state_ == kAutoNamed ? kAutoNamed + name_ : state_;
  Run(kAutoNamed + name);
}

void Track::EndCompilation() {
  const uint32_t before = before_compilation_;
  before_compilation_ = kAutoStates;
  if (before == kAutoStates || state_ != kAutoNamed || !Follows()) return;
  if (state_ == kAutoNamed) Run(before);  // else of another window
}

// Of a compilation in the C that ends, if another phase was expected.
void Track::EndPhases() {
  if (compilation_ != 0) return;
  if (name_ == 0 || apart_ != 0) EndCompilation();
  before_compilation_ = kAutoStates;
}

void Track::NoteGradients() {
  if (called_ != nullptr) {
    NoteTraining(called_);
  } else if (!IsInsideOther()) {
    CountStep();
    if (Follows()) NoteOtherUpdate();
  }
}

// One that names nothing that is open.
void Track::NoteOtherUpdate() { SayOfStretch(NoteUpdate()); }

void Track::SayOfStretch(uint32_t stretch) {
  if (stretch == kAutoStretchKeeps) return;
  WriteRecord(kAutoResolve, WithAutoStretch(kAutoKeepAll, stretch));
}

void Track::BeginResult(const CompiledSlot* maker) {
  waits_in_forward_ = false;
  if (maker == nullptr || (compilation_ | apart_) != 0 || IsPartOfOther() || !Follows()) return;
  if (!has_environment) return BeginNamed(Load(maker->note));
  if (unawaited_ != nullptr && maker == after_update_) maker = unawaited_;
  if (maker == unawaited_) unawaited_ = after_update_ = nullptr;
  const uint32_t trains = Load(maker->trains);
  if (trains != 0) return BeginNamed(trains);
  if (!IsNameOpen()) {
    return BeginNamed(Load(maker->acts) != 0 ? NameOfOperation("inference") : Load(maker->note));
  }
  waits_in_forward_ = state_ == kAutoBetween || state_ == kAutoAfter || has_output_;
  if (!waits_in_forward_) return;
  has_output_ ? ResolveAndRun(TakeOutput(kAutoKeepAll), kAutoAside) : Run(kAutoAside);
}

void Track::EndResult() {
  EndPhases();
  waits_in_forward_ ? EndForward() : EndNamed();
}

// ---- I ------------------------------------------------------------------------------------------

void Track::BeginImport() {
  if (IsInsideCode() || IsPartOfOther() || conversion_ != 0 || block_ != nullptr) return;
  if (expects_ == Expects::kChosen || expects_ == Expects::kToken) return;
  if (expects_ == Expects::kName && has_gradients_) return;  // PyTorch's first backward imports
  const bool has_key = has_key_ && expects_ == Expects::kForward;
  if (expects_ == Expects::kStep || has_key || !Follows() || state_ == kAutoNamed) return;
  if (drawn_) is_batch_ = true;
  const uint32_t name = NameOfOperation("import");
  if (name == 0) return;
  const uint8_t before = state_;
  Run(kAutoNamed + name);
  state_ = before;
  imports_ = true;
}

void Track::EndImport() {
  if (Follows() && imports_) Run(state_);
}

}  // namespace rlscope::python
