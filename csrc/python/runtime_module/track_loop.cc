// The automatic track in the loop of a program: steps of environments, forwards, backwards,
// optimizers.
#include <algorithm>

#include "python/runtime_module/compiled_table.h"
#include "python/runtime_module/precision.h"
#include "python/runtime_module/token_count.h"
#include "python/runtime_module/track_steps.h"
#include "python/runtime_module/update_iterations.h"

namespace rlscope::python {

namespace {

bool (*gradients_enabled)() = nullptr;

}  // namespace

__thread Track own_track;

uint64_t explicit_in = 0;
uint64_t optimizer_steps = 0;
uint64_t outermost_forwards = 0;
bool has_environment = false;
bool has_own_environment = false;

// ---- what every event does ----------------------------------------------------------------------

bool Track::Follows() { return FollowsNow(); }

// The trace knows nothing of what is open.
void Track::Forget() {
  const uint32_t import_cut = import_cut_;
  Decide(Expects::kNothing);
  import_cut_ = import_cut;
  NoteSegment();
  if (evaluations_.Forget()) evaluates_ = nullptr;
  state_ = kAutoNothing;
  before_compilation_ = kAutoStates;
}

// ---- S ------------------------------------------------------------------------------------------

// An iteration begins at the first S of all, and at each first one after an O. Without an S see
// update_iterations.h.
inline bool Track::IsNewIteration() {
  const uint64_t steps = CountedSteps();
  if (steps == steps_seen_ && steps_generation_ == Load(rlscope_process.generation)) return false;
  steps_seen_ = steps;
  steps_generation_ = Load(rlscope_process.generation);
  return true;
}

// Time between a forward and the first S of all is no inference: programs try their modules,
// or compile them, before they make environments.
inline bool Track::IsInLoop() const { return loop_generation_ == Load(rlscope_process.generation); }

// A step that may begin or end a call of a function that evaluates: the thread's first one, one
// after an update, a reset, or one in such a call. Gives what a resolve has to say of the stretch.
// If no update came before the call, one has to come next, or the environment is another one.
trace::AutoStretch Track::NoteCall(const void* environment, bool is_fed) {
  if (evaluates_ != nullptr) {
    return evaluates_->IsRunning() ? kAutoStretchKeeps : EndCall(evaluations_.is_sure());
  }
  const uint64_t place = PlaceOfThread();
  if (place == trains_at_) return kAutoStretchKeeps;
  evaluates_ = FindEvaluatingFunction();
  if (evaluates_ != nullptr) {
    const bool is_sure = is_fed || evaluations_.IsOther(environment);
    return evaluations_.BeginCall(environment, is_sure);
  }
  trains_at_ = place;
  return kAutoStretchKeeps;
}

// The thread steps no environment. `forwards`: how many F come next; 0: a V that is no generation.
// What comes may begin or end a call of a function that evaluates.
__attribute__((noinline)) void Track::NoteAlone(int forwards) {
  if (evaluates_ != nullptr && !evaluates_->IsRunning()) EndAlone();
  if (forwards == 0) return;
  if (fed_ && evaluates_ == nullptr) BeginAlone();
  if (evaluates_ == nullptr) return;
  forwards_alone_ = std::min(forwards_alone_ + forwards, kEvaluates);
  SayOfStretch(evaluations_.Step(/*environment=*/nullptr, policy_calls_.forwards));
}

// The first F after an update.
inline void Track::BeginAlone() {
  fed_ = false;
  evaluates_ = elsewhere_.is_proven() ? FindEvaluatingFunction() : nullptr;
  if (evaluates_ == nullptr) return;
  forwards_alone_ = 0;
  const uint32_t stretch = evaluations_.BeginCall(/*environment=*/nullptr, /*is_sure=*/true);
  if (block_ == nullptr || block_has_forward_) return SayOfStretch(stretch);
  // The block goes on apart from its part before the call.
  const uint32_t resolve = WithAutoFate(kAutoKeepAll, kAutoBlock, kAutoNothing);
  ResolveAndRun(WithAutoStretch(resolve, stretch), kAutoBlock);
}

// An F in no such call, or a V.
inline void Track::EndAlone() {
  const bool evaluates = EvaluatesAlone();
  const AutoStretch was = EndCall(evaluates);
  const bool is_part = block_ != nullptr && block_has_forward_;
  if (!evaluates || is_part) return SayOfStretch(was);
  const uint32_t resolve = NameAll(kAutoInference, kAutoNothing, kAutoNothing, kAutoNothing);
  NameBefore(WithAutoStretch(resolve, was));
  run_.End();
  if (block_ != nullptr) run_.BeginBlock();
}

// An update was since the last S: whether the program had chosen the action before it. A reset says
// nothing, as no action is given.
inline void Track::NoteOrder(bool given) {
  if (!ExpectsStep()) {
    acts_first_ = false;
  } else if (given) {
    acts_first_ = true;
  }
}

bool Track::BeginSimulation(const PyObject* environment, bool given) {
  if (__builtin_expect(rewards_ != nullptr, 0)) EndRewardByStep();
  if (backward_ != 0 || IsInsideCode()) return false;
  if (expects_ == Expects::kName && !acts_first_) acts_given_ = is_given_;
  if (fed_) NoteOrder(given);
  const bool acts = expects_ == Expects::kName || expects_ == Expects::kChosen;
  const bool draws = drawn_ && !is_batch_ && has_acted_ && IsInLoop();
  if (__builtin_expect(!has_learned_, 0) && expects_ == Expects::kName) {
    learns_as_acted_ = has_gradients_;
  }
  uint32_t stretch = kAutoStretchKeeps;
  // What acts before it learns has an S more between its update and an evaluation.
  const bool is_fed = fed_ || (acts_first_ && was_fed_);
  const bool may_begin = is_fed || !given || !simulates_;  // a call
  if (may_begin || evaluates_ != nullptr) stretch = NoteCall(environment, is_fed);
  was_fed_ = fed_;
  generated_ = updated_ = fed_ = acted_ = false;
  has_acted_ = simulates_;
  has_environment = simulates_ = true;
  has_own_environment |= exchange_ == nullptr;
  own_steps_ += exchange_ == nullptr;
  const uint32_t waits = draws || (acts && IsInLoop()) ? kAutoInference : kAutoNothing;
  loop_generation_ = Load(rlscope_process.generation);
  const bool counts = evaluates_ == nullptr && !update_iterations.GoOn();
  const bool ends = counts && __builtin_expect(IsNewIteration(), 0) && BeginIteration();
  if (!FollowsNow()) return ends;
  native_calls::RecordSerialization();
  if (acts && last_compiled_ != nullptr)
    __atomic_store_n(&last_compiled_->acts, 1, __ATOMIC_RELAXED);
  const bool is_forgotten = stretch == kAutoStretchBegins && evaluates_ == nullptr;
  if (__builtin_expect(is_forgotten, 0)) stretch = kAutoStretchKeeps;  // of another window
  if (stretch == kAutoStretchKeeps && __builtin_expect(!evaluations_.IsUsual(environment), 0)) {
    stretch = evaluations_.Step(environment, policy_calls_.forwards);
  }
  if (HasOpen() || stretch != kAutoStretchKeeps) {
    const uint32_t tail = draws ? kAutoInference : kAutoNothing;
    const uint32_t resolve = NameAll(kAutoInference, waits, waits, tail);
    ResolveAndRun(WithAutoStretch(resolve, stretch), kAutoSimulation);
  } else {
    Run(kAutoSimulation);
  }
  Decide(Expects::kNothing);
  return ends;
}

void Track::EndSimulation() {
  if (backward_ != 0 || IsInsideCode() || !FollowsNow()) return;
  if (state_ != kAutoSimulation) return;
  prepares_ = learns_as_acted_;
  Run(prepares_ ? kAutoTail : kAutoNothing);
}

// ---- F ------------------------------------------------------------------------------------------

bool Track::LeaveGreenlet(const PyObject* greenlet) {
  const bool is_other = is_held_ && greenlet != holder_;
  const bool mixes = is_other && calls_ != held_calls_;
  if (!is_other) {
    is_held_ = state_ != kAutoNothing && !(prepares_ && state_ == kAutoTail);
    holder_ = greenlet;
  }
  held_calls_ = calls_;
  return mixes;
}

void Track::BeginForward(const Arguments& call, Gradients gradients) {
  ++calls_;
  EndExchange();
  if (IsInsideOther()) return;
  ++policy_calls_.forwards;
  ++outermost_forwards;
  if (__builtin_expect(!has_environment, 0)) LookForEnvironments();
  if (!FollowsNow()) return;
  NotePrecision(call);
  const bool on = gradients == Gradients::kAsk ? HasGradients(/*if_unknown=*/block_ == nullptr)
                                               : gradients == Gradients::kOn;
  if (__builtin_expect(!has_environment, 0) && step_ == 0) NoteAlone(/*forwards=*/1);
  if (!on && step_ == 0 && __builtin_expect(BeginReward(Reward::kForward), 0)) return;
  if (step_ != 0) {
    run_.End();
  } else if (__builtin_expect(run_.GoesOn(call, on), 0)) {
    return OpenToken();
  }
  if (is_unproven_) {
    const PyObject* input = FirstInput(call);
    is_unproven_ = input == nullptr || !observation_.IsConverted(input);
  }
  if (__builtin_expect(has_output_, 0) && (!has_environment || acts_first_)) NameChosen();
  const void* module = ModuleOf(call);
  if (!on && __builtin_expect(!has_environment, 0) && ForwardModules::IsNew(module)) {
    ForwardModules::NoteInput(module, IsGivenTexts(call));
  }
  const bool is_open = on && !has_environment && expects_ == Expects::kName && block_ == nullptr;
  if (__builtin_expect(is_open, 0) && modules_.HadGradients(module)) RepeatForward();
  if (__builtin_expect(!has_environment, 0)) elsewhere_.Look(evaluates_ != nullptr);
  OpenForward(call, module, on);
}

// A forward begins, after what another one returned was converted.
__attribute__((noinline)) void Track::NameChosen() {
  const bool is_part = block_ != nullptr && block_has_forward_;
  if (expects_ != Expects::kName || step_ != 0 || is_part) return;
  if (!acts_first_ && run_.MayGoOn()) return;
  const uint32_t waits = IsInLoop() ? kAutoInference : kAutoNothing;
  NameBefore(NameAll(kAutoInference, waits, waits, kAutoNothing));
  acted_ = true;
  elsewhere_.Act();
}

// The same, with an F or its K that begins to act: what is open tested the update.
__attribute__((noinline)) void Track::NameTest() {
  if (expects_ != Expects::kName || step_ != 0) return;
  const uint32_t resolve = NameAll(kAutoBackprop, kAutoBackprop, kAutoBackprop, kAutoNothing);
  NameBefore(WithAutoFate(resolve, kAutoAside, kAutoBackprop));
}

// Names what is open. A block that is open goes on by itself.
void Track::NameBefore(uint32_t resolve) {
  if (block_ != nullptr) resolve = WithAutoFate(resolve, kAutoBlock, kAutoBlock);
  Resolve(resolve);
  before_block_ = kAutoNothing;
  expects_ = Expects::kNothing;
  has_output_ = false;
}

// A forward begins, of a module that had one in the operation that is open.
__attribute__((noinline)) void Track::RepeatForward() {
  if (!acting_.Repeat()) return;
  elsewhere_.Act();
  NameActing();
}

// The forwards that are open are inference, each for its own time.
inline void Track::NameActing() {
  Resolve(NameAll(kAutoInference, kAutoNothing, kAutoNothing, kAutoNothing));
  expects_ = Expects::kNothing;
}

// A module inside of another one, which a program may also call by itself.
__attribute__((noinline)) void Track::NoteNested(const Arguments& call) {
  if (!IsInsideOther() && HasGradients(/*if_unknown=*/block_ == nullptr)) {
    modules_.NoteNested(ModuleOf(call));
  }
}

// An F that goes on a generation. With the first one, all that is open is a part of it.
__attribute__((noinline)) void Track::OpenToken() {
  const bool begins = expects_ != Expects::kToken;
  if (evaluates_ == nullptr) AddTokens((begins ? TokenRun::kShortest : 1) * run_.texts(), begins);
  elsewhere_.Act();
  expects_ = Expects::kToken;
  has_gradients_ = backward_inside_ = false;
  generated_ = true;
  if (block_ != nullptr) block_has_forward_ = true;
  if (state_ == kAutoGeneration) return;
  const uint32_t tail = has_output_ ? kAutoGeneration : kAutoNothing;
  uint32_t resolve = NameAll(kAutoGeneration, kAutoGeneration, kAutoGeneration, tail);
  has_output_ = false;
  if (!begins) resolve = WithAutoFate(resolve, kAutoBlock, kAutoGeneration);
  ResolveAndRun(resolve, kAutoGeneration);
}

// A forward, or its block, has ended. After a generation no S is expected to name it.
inline void Track::RunAfterForward() {
  if (!NamesForwards() || state_ != kAutoAside) return Run(AfterForward());
  NameForward(AfterForward());
}

__attribute__((noinline)) void Track::NameForward(uint32_t next) {
  const uint32_t frozen = gives_scores_ ? kAutoReward : kAutoReference;
  const uint32_t name = modules_.is_frozen() ? frozen : kAutoBackprop;
  ResolveAndRun(WithAutoFate(kAutoKeepAll, kAutoAside, name), next);
}

void Track::EndForward() {
  const bool counts = forward_ == forward_base_;
  forward_base_ = forward_;
  if (!counts || compiled_ != 0 || !IsInForward(state_)) return;
  const bool is_in_block = block_ != nullptr;
  if ((is_in_block && !NamesForwards()) || !FollowsNow() || !IsInForward(state_)) return;
  if (!is_in_block) return RunAfterForward();
  if (state_ == kAutoAside) NameForward(kAutoAside);
}

void Track::NoteForward(bool has_gradients) {
  if (IsInsideForward()) return;
  if (compilation_ == 0) {
    BeginForward({}, has_gradients ? Gradients::kOn : Gradients::kOff);
    ++forward_;
    LeaveForward(/*result=*/nullptr);
  } else if ((simulation_ | backward_ | compiled_ | apart_) == 0 && Follows()) {
    if (block_ != nullptr) OpenForward({}, nullptr, has_gradients);  // that the J interrupts
  }
}

bool Track::BeginPrediction() {
  if (!has_environment) return false;
  if (!IsInsideForward()) BeginForward({}, Gradients::kOff);
  ++forward_;
  return true;
}

void Track::EnterBlock(const void* block) {
  if (block_ != nullptr) {
    if (block_ == block) ++block_entries_;
    return;
  }
  if (block == nullptr || step_ != 0 || IsInsideForward() || IsInsideOther() || !Follows()) return;
  if (__builtin_expect(BeginReward(Reward::kBlock), 0)) {
    reward_block_ = block;
    return;
  }
  before_block_ = state_;
  block_ = block;
  block_entries_ = 1;
  block_has_forward_ = block_has_change_ = block_has_conversion_ = false;
  run_.BeginBlock();
  Run(kAutoBlock);
}

void Track::LeaveBlock(const void* block) {
  if (__builtin_expect(block == reward_block_ && block != nullptr, 0)) return EndReward();
  if (block == nullptr || block_ != block || --block_entries_ != 0 || !Follows()) return;
  if (block_ == nullptr) return;  // of another window
  run_.EndBlock(/*writes=*/state_ == kAutoGeneration);
  if (block_has_forward_) {
    RunAfterForward();
  } else if (block_has_change_ && HasManyChanges()) {
    GoOnWithUpdate();
  } else {
    Resolve(WithAutoFate(kAutoKeepAll, kAutoBlock, before_block_));
  }
  block_ = nullptr;
}

// ---- B and O ------------------------------------------------------------------------------------

void Track::BeginBackward(PyObject* outputs) {
  EndExchange();
  if (IsInsideCode()) NoteGradients();
  ++policy_calls_.updates;
  if (simulation_ != 0 || IsInsideCode()) return;
  if (IsInsideForward()) {
    backward_inside_ = true;
    return;
  }
  if (!Follows()) return;
  native_calls::RecordSerialization();
  if (expects_ == Expects::kName) {
    const bool acted = __builtin_expect(!has_environment, 0) && acting_.Judge(outputs);
    modules_.Train();
    // Of those before the first such backward, which is its own is not known any more.
    if (acted && block_ == nullptr) NameActing();
  }
  if (simulates_ && !updated_) {
    learns_as_acted_ = expects_ == Expects::kNothing || expects_ == Expects::kForward;
    has_learned_ = true;
  }
  const uint32_t stretch = NoteUpdate();
  if (HasOpen() || stretch != kAutoStretchKeeps) {
    const uint32_t resolve = NameAllOfUpdate();
    ResolveAndRun(WithAutoStretch(resolve, stretch), kAutoBackprop);
  } else {
    Run(kAutoBackprop);
  }
  updated_ = true;
  Decide(Expects::kNothing);
}

void Track::EndBackward() {
  if (simulation_ != 0 || IsInsideCode() || state_ != kAutoBackprop || !Follows()) return;
  if (state_ != kAutoBackprop) return;  // of another window
  Run(kAutoTail);
  Decide(Expects::kStep);
}

// An update begins, of an optimizer or a compiled function.
inline bool Track::NoteUpdateOf(const PyObject* optimizer) {
  return update_iterations.Begins(optimizer) && BeginIteration();
}

bool Track::BeginStep(const PyObject* optimizer) {
  EndExchange();
  if (imports_) EndImport();
  return !IsInsideOther() && NoteUpdateOf(optimizer);
}

bool Track::EndsWithCompiled(const PyObject* function) {
  if (compiled_ != 0 || IsInsideOther() || IsPartOfOther()) return false;
  return NameOfTraining(function) != 0 && NoteUpdateOf(function);
}

void Track::EndStep() {
  CountStep();
  ++policy_calls_.updates;
  if (IsInsideOther()) return;
  loop_generation_ = Load(rlscope_process.generation);
  if (!Follows()) return;
  NoteOtherUpdate();
  const bool had_backward = ExpectsStep() || (expects_ == Expects::kName && backward_inside_);
  if (had_backward) {
    if (expects_ == Expects::kName) modules_.Train();
    ResolveAndRun(NameAllOfUpdate(), kAutoTail);
  } else if (HasOpen()) {
    const uint32_t resolve = NameAll(kAutoInference, kAutoNothing, kAutoNothing, kAutoNothing);
    // No resolve ends what has its name.
    state_ == kAutoGeneration ? ResolveAndRun(resolve, kAutoNothing) : Resolve(resolve);
  }
  generated_ = false;
  updated_ |= had_backward;
  Decide(had_backward ? Expects::kMoreSteps : Expects::kNothing);
}

// ---- H ------------------------------------------------------------------------------------------

void Track::NoteChanges(uint64_t count) {
  if (!Follows() || !ExpectsStep()) return;
  changes_ += count;
  if (block_ != nullptr) {
    block_has_change_ = true;
  } else if (HasManyChanges()) {
    GoOnWithUpdate();
  }
}

// The update lasts up to here.
inline void Track::GoOnWithUpdate() {
  const uint32_t resolve = WithAutoFate(kAutoKeepAll, kAutoTail, kAutoBackprop);
  ResolveAndRun(WithAutoFate(resolve, kAutoBlock, kAutoBackprop), kAutoTail);
}

void Track::End() {
  const bool is_alone = evaluates_ != nullptr && !has_environment;
  const uint32_t stretch = is_alone ? evaluations_.EndCall(EvaluatesAlone()) : evaluations_.End();
  if (stretch != kAutoStretchKeeps && Follows()) SayOfStretch(stretch);
}

// ---- of the process -----------------------------------------------------------------------------

void StartTracks(ModuleState* state) { track_phases = state; }

uint64_t CountedForwards() { return outermost_forwards; }

uint64_t CountedSteps() { return __atomic_load_n(&optimizer_steps, __ATOMIC_RELAXED); }

bool IsAnnotated() { return HasExplicit(); }

void EndTracks() {
  if (HasExplicit()) return;
  __atomic_store_n(&explicit_in, Load(rlscope_process.generation) + 1ull, __ATOMIC_RELAXED);
  if (track_phases != nullptr) own_track.Follows();
}

void AskGradients(bool (*enabled)()) { gradients_enabled = enabled; }

bool HasGradients(bool if_unknown) {
  return gradients_enabled == nullptr ? if_unknown : gradients_enabled();
}

}  // namespace rlscope::python
