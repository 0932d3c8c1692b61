#include "python/runtime_module/automatic_track.h"

#include "native_calls/call.h"
#include "python/runtime_module/compiled_table.h"
#include "python/runtime_module/token_count.h"
#include "python/runtime_module/track_records.h"
#include "runtime/hot.h"

namespace rlscope::python {

namespace {

using runtime::Load;
using namespace trace;  // NOLINT: the states and kinds of record.h, in every line

// Hooks are process-wide, and so is what they feed.
bool (*gradients_enabled)() = nullptr;
uint64_t explicit_in = 0;      // generation, plus one, of the image that had an explicit operation
uint64_t optimizer_steps = 0;  // of all threads
bool has_environment = false;

bool HasExplicit() {
  return __atomic_load_n(&explicit_in, __ATOMIC_RELAXED) == Load(rlscope_process.generation) + 1ull;
}

void CountStep() { __atomic_fetch_add(&optimizer_steps, 1, __ATOMIC_RELAXED); }

const void* ModuleOf(const Arguments& call) {
  return call.values == nullptr ? nullptr : *call.values;
}

// What a module is given: __call__(module, input, ...).
const PyObject* FirstInput(const Arguments& call) {
  const bool has_any = call.values != nullptr && PyVectorcall_NARGS(call.flagged_count) > 1;
  return has_any ? call.values[1] : nullptr;
}

constexpr bool IsInForward(uint32_t state) {
  return state == kAutoInside || state == kAutoAside || state == kAutoGeneration;
}

}  // namespace

__thread Track own_track;

// ---- what every event does ----------------------------------------------------------------------

inline __attribute__((always_inline)) bool Track::FollowsNow() {
  if (__builtin_expect(!IsRecordingNow(), 0)) {
    Forget();
    return false;
  }
  const uint32_t generation = Load(rlscope_process.generation);
  const uint32_t window = Load(rlscope_process.window);
  if (__builtin_expect(generation_ != generation || window_ != window, 0)) {
    Forget();
    generation_ = generation;
    window_ = window;
  }
  if (__builtin_expect(!HasExplicit(), 1)) return true;
  if (HasOpen() || state_ != kAutoNothing || imports_) {
    ResolveAndRun(NameAll(kAutoInference, kAutoNothing, kAutoNothing, kAutoNothing), kAutoNothing);
    Decide(Expects::kNothing);
  }
  return false;
}

bool Track::Follows() { return FollowsNow(); }

// The trace knows nothing of what is open.
void Track::Forget() {
  const uint32_t import_cut = import_cut_;
  Decide(Expects::kNothing);
  import_cut_ = import_cut;
  NoteSegment();
  evaluations_.Forget();
  state_ = kAutoNothing;
  before_compilation_ = kAutoStates;
}

// Something else than an I runs.
inline void Track::NoteSegment() {
  import_base_ = import_;
  imports_ = false;
}

// The open operation has its name. Whatever encloses the event that gave it counts no more.
inline void Track::Decide(Expects next) {
  expects_ = next;
  forward_base_ = forward_;
  import_base_ = import_;
  import_cut_ = import_;
  block_ = nullptr;
  last_compiled_ = nullptr;
  drawn_ = makes_ = is_unproven_ = has_output_ = false;
  run_.End();
}

// What a forward without gradients is where others have some.
inline uint32_t Track::NameOfAside(uint32_t inside) const {
  if (inside != kAutoBackprop || !has_gradients_) return inside;
  if (!modules_.is_aside_trained()) return generated_ ? kAutoReference : kAutoTarget;
  return updated_ || !modules_.is_aside_first() ? kAutoBackprop : kAutoAdvantage;
}

// The resolve that names everything open. A block still without a forward is part of what it
// interrupted.
inline uint32_t Track::NameAll(uint32_t inside, uint32_t between, uint32_t after,
                               uint32_t tail) const {
  uint32_t resolve = WithAutoFate(0, kAutoInside, inside);
  resolve = WithAutoFate(resolve, kAutoAside, NameOfAside(inside));
  resolve = WithAutoFate(resolve, kAutoBetween, between);
  resolve = WithAutoFate(resolve, kAutoAfter, after);
  resolve = WithAutoFate(resolve, kAutoTail, tail);
  const bool interrupts = block_ != nullptr && IsAutoOpen(before_block_);
  return WithAutoFate(resolve, kAutoBlock,
                      interrupts ? AutoFateOf(resolve, before_block_) : kAutoNothing);
}

// `tail`: of what runs as one, unless that is a batch that was drawn, or follows an X.
inline uint32_t Track::NameAllOfUpdate(uint32_t tail = kAutoBackprop) const {
  if (has_output_) tail = has_gradients_ ? kAutoBackprop : kAutoNothing;
  return NameAll(kAutoBackprop, kAutoNothing, kAutoBackprop, drawn_ ? kAutoReplay : tail);
}

inline void Track::Resolve(uint32_t resolve) {
  WriteRecord(kAutoResolve, resolve);
  const uint32_t now = IsAutoFinal(state_) ? state_ : AutoFateOf(resolve, state_);
  state_ = static_cast<uint8_t>(IsAutoOpen(now) || now == kAutoNamed ? now : kAutoNothing);
  if (IsAutoOpen(before_compilation_)) {
    before_compilation_ = AutoFateOf(resolve, before_compilation_);
  }
}

inline void Track::Run(uint32_t state) {
  WriteRecord(kAutoSegment, state);
  NoteSegment();
  state_ = static_cast<uint8_t>(state < kAutoNamed ? state : kAutoNamed);
}

inline void Track::ResolveAndRun(uint32_t resolve, uint32_t state) {
  WriteBoth(resolve, state);
  NoteSegment();
  state_ = static_cast<uint8_t>(state < kAutoNamed ? state : kAutoNamed);
}

// ---- S ------------------------------------------------------------------------------------------

// An iteration begins at the first S of all, and at each first one after an O.
inline bool Track::IsNewIteration() {
  const uint64_t steps = __atomic_load_n(&optimizer_steps, __ATOMIC_RELAXED);
  if (steps == steps_seen_ && steps_generation_ == Load(rlscope_process.generation)) return false;
  steps_seen_ = steps;
  steps_generation_ = Load(rlscope_process.generation);
  return true;
}

// Time between a forward and the first S of all is no inference: programs try their modules,
// or compile them, before they make environments.
inline bool Track::IsInLoop() const { return loop_generation_ == Load(rlscope_process.generation); }

bool Track::BeginSimulation(const PyObject* environment) {
  if (backward_ != 0 || IsInsideCode()) return false;
  const bool acts = expects_ == Expects::kName || expects_ == Expects::kChosen;
  const bool draws = expects_ == Expects::kDrawn && has_acted_ && IsInLoop();
  generated_ = updated_ = fed_ = false;
  has_acted_ = simulates_;
  has_environment = simulates_ = true;
  const uint32_t waits = acts && IsInLoop() ? kAutoInference : kAutoNothing;
  loop_generation_ = Load(rlscope_process.generation);
  const bool ends = __builtin_expect(IsNewIteration(), 0) && BeginIteration();
  if (!FollowsNow()) return ends;
  native_calls::RecordSerialization();
  if (acts && last_compiled_ != nullptr)
    __atomic_store_n(&last_compiled_->acts, 1, __ATOMIC_RELAXED);
  uint32_t stretch = kAutoStretchKeeps;
  if (__builtin_expect(!evaluations_.IsUsual(environment), 0)) {
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
  if (state_ == kAutoSimulation) Run(kAutoNothing);
}

// ---- F ------------------------------------------------------------------------------------------

void Track::BeginForward(const Arguments& call, Gradients gradients) {
  if (IsInsideOther()) return;
  ++policy_calls_.forwards;
  if (__builtin_expect(!has_environment, 0)) LookForEnvironments();
  if (!FollowsNow()) return;
  const bool on = gradients == Gradients::kAsk ? HasGradients(/*if_unknown=*/block_ == nullptr)
                                               : gradients == Gradients::kOn;
  if (step_ != 0) {
    run_.End();
  } else if (__builtin_expect(run_.GoesOn(call, on), 0)) {
    return OpenToken();
  }
  if (is_unproven_) {
    const PyObject* input = FirstInput(call);
    is_unproven_ = input == nullptr || !observation_.IsConverted(input);
  }
  const void* module = ModuleOf(call);
  const bool is_open = on && !has_environment && expects_ == Expects::kName && block_ == nullptr;
  if (__builtin_expect(is_open, 0) && modules_.HadGradients(module)) RepeatForward();
  OpenForward(module, on);
}

inline __attribute__((always_inline)) void Track::OpenForward(const void* module, bool on) {
  // Inside an O the forward of a closure changes nothing once there was a B.
  if (step_ != 0 && ExpectsStep()) return;
  const bool ends_backprop = ExpectsStep();
  uint32_t resolve = DropUnproven(TakeOutput(kAutoKeepAll));
  if (ends_backprop) {
    resolve = WithAutoFate(resolve, kAutoTail, kAutoNothing);
    before_block_ = kAutoNothing;
  }
  if (expects_ == Expects::kToken) resolve = WithAutoFate(resolve, kAutoBetween, kAutoNothing);
  if (expects_ != Expects::kName) {
    has_gradients_ = backward_inside_ = false;
    acting_.Open(/*is_judged=*/!has_environment);
    modules_.Open();
  }
  expects_ = Expects::kName;
  has_gradients_ |= on;
  modules_.Note(module, on, block_ == nullptr || !block_has_forward_ || state_ == kAutoGeneration);
  const AutoState inside = on ? kAutoInside : kAutoAside;
  if (block_ == nullptr || state_ == kAutoGeneration) {
    resolve != kAutoKeepAll ? ResolveAndRun(resolve, inside) : Run(inside);
  } else if (!block_has_forward_) {
    block_has_forward_ = true;
    Resolve(WithAutoFate(resolve, kAutoBlock, inside));
  }
}

// A forward begins, of a module that had one in the operation that is open.
__attribute__((noinline)) void Track::RepeatForward() {
  if (!acting_.Repeat()) return;
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
  AddTokens((begins ? TokenRun::kShortest : 1) * run_.texts(), begins);
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

// What the forwards so far go on as.
inline uint32_t Track::AfterForward() const {
  if (has_output_) return kAutoTail;
  return has_gradients_ ? kAutoAfter : kAutoBetween;
}

// A forward, or its block, has ended. After a generation no S is expected to name it.
inline void Track::RunAfterForward() {
  if (__builtin_expect(!generated_, 1) || state_ != kAutoAside || !modules_.trains()) {
    return Run(AfterForward());
  }
  const uint32_t frozen = gives_scores_ ? kAutoReward : kAutoReference;
  const uint32_t name = modules_.is_frozen() ? frozen : kAutoBackprop;
  ResolveAndRun(WithAutoFate(kAutoKeepAll, kAutoAside, name), AfterForward());
}

void Track::EndForward() {
  const bool counts = forward_ == forward_base_;
  forward_base_ = forward_;
  if (!counts || compiled_ != 0 || !IsInForward(state_) || block_ != nullptr || !FollowsNow())
    return;
  if (IsInForward(state_)) RunAfterForward();
}

void Track::NoteForward(bool has_gradients) {
  if (IsInsideForward()) return;
  if (compilation_ == 0) {
    BeginForward({}, has_gradients ? Gradients::kOn : Gradients::kOff);
    ++forward_;
    LeaveForward(/*result=*/nullptr);
  } else if ((simulation_ | backward_ | compiled_ | apart_) == 0 && Follows()) {
    if (block_ != nullptr) OpenForward(nullptr, has_gradients);  // the one that the J interrupts
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
  before_block_ = state_;
  block_ = block;
  block_entries_ = 1;
  block_has_forward_ = false;
  Run(kAutoBlock);
}

void Track::LeaveBlock(const void* block) {
  if (block == nullptr || block_ != block || --block_entries_ != 0 || !Follows()) return;
  if (block_ == nullptr) return;  // of another window
  if (block_has_forward_) {
    RunAfterForward();
  } else {
    Resolve(WithAutoFate(kAutoKeepAll, kAutoBlock, before_block_));
  }
  block_ = nullptr;
}

// ---- B and O ------------------------------------------------------------------------------------

// What a resolve has to say of a stretch that may be an evaluation.
inline uint32_t Track::NoteUpdate() {
  if (fed_) return kAutoStretchKeeps;
  fed_ = true;
  return evaluations_.Update();
}

void Track::BeginBackward(PyObject* outputs) {
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
    if (__builtin_expect(!has_environment, 0)) acting_.Judge(outputs);
    modules_.Train();
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

// ---- C, V and J ---------------------------------------------------------------------------------

void Track::BeginCompiled(PyObject* function) {
  called_ = function;
  compiled_is_ = Runs::kOther;
  ++policy_calls_.forwards;
  if (!has_environment) LookForEnvironments();
  if ((compilation_ | apart_) != 0 || IsPartOfOther() || !Follows()) return;
  if (!has_environment) return BeginNamed(NameOfCompiled(function));
  const uint32_t name = NameOfTraining(function);
  compiled_is_ = name == 0 ? Runs::kForward : Runs::kTraining;
  name == 0 ? BeginCompiledForward(function) : BeginTraining(name);
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
    case Runs::kOther:
      return EndNamed();
  }
}

void Track::BeginCompiledForward(PyObject* function) {
  run_.End();
  gives_scores_ = false;
  OpenForward(function, /*on=*/false);
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
    const uint32_t resolve = NameAllOfUpdate(simulates_ ? kAutoBackprop : kAutoNothing);
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
  BeginNamed(NameOfOperation(name));
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
  const uint32_t trains = Load(maker->trains);
  if (!has_environment) return BeginNamed(Load(maker->note));
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

// ---- K ------------------------------------------------------------------------------------------

// `object`: null for an L.
void Track::BeginConversion(const PyObject* object) {
  if (IsInsideOther() || IsInsideForward() || step_ != 0) return;
  if (block_ != nullptr || IsNameOpen() || !FollowsNow()) return;
  const bool goes_on = expects_ == Expects::kForward;
  if (!goes_on) converts_ = has_key_ = is_unproven_ = false;
  const bool drops =
      converts_ && (object == nullptr ? is_unproven_ : !observation_.IsConverted(object));
  if (ExpectsStep() || expects_ == Expects::kDrawn) {
    ResolveAndRun(WithAutoFate(kAutoKeepAll, kAutoTail, kAutoNothing), kAutoBetween);
  } else if (drops) {
    // As an observation is converted to be stored, and once more for the forward.
    ResolveAndRun(WithAutoFate(kAutoKeepAll, kAutoBetween, kAutoNothing), kAutoBetween);
    converts_ = has_key_ = is_unproven_ = false;
  } else {
    Run(kAutoBetween);
  }
  object == nullptr ? has_key_ = true : converts_ = true;
  expects_ = Expects::kForward;
}

void Track::EndConversion() {
  if (expects_ != Expects::kForward || has_key_ || state_ != kAutoBetween || !Follows()) return;
  if (state_ == kAutoBetween) Run(kAutoNothing);  // else of another window
}

// ---- W and X ------------------------------------------------------------------------------------

bool Track::CanMake() const {
  return !IsInsideOther() && !IsInsideForward() && step_ == 0 && block_ == nullptr;
}

// What was converted before is not for the next F.
void Track::BeginMaking() {
  if (!FollowsNow() || !(expects_ == Expects::kNothing || is_unproven_)) return;
  is_unproven_ ? ResolveAndRun(DropUnproven(kAutoKeepAll), kAutoBetween) : Run(kAutoBetween);
  expects_ = Expects::kForward;
  converts_ = makes_ = is_unproven_ = true;
  has_key_ = false;
}

uint32_t Track::DropUnproven(uint32_t resolve) {
  if (!is_unproven_) return resolve;
  is_unproven_ = false;
  return WithAutoFate(resolve, kAutoBetween, kAutoNothing);
}

// What follows an X is a part of what is open only if something more of that comes.
void Track::EndOutput() {
  if (IsInsideOther() || IsInsideForward() || step_ != 0 || drawn_ || !FollowsNow()) return;
  if (block_ != nullptr) {
    has_output_ |= block_has_forward_;
  } else if (expects_ == Expects::kName) {
    has_output_ ? ResolveAndRun(TakeOutput(kAutoKeepAll), kAutoTail) : Run(kAutoTail);
    has_output_ = true;
  }
}

uint32_t Track::TakeOutput(uint32_t resolve) {
  if (!has_output_) return resolve;
  has_output_ = false;
  return WithAutoFate(resolve, kAutoTail, AfterForward());
}

// ---- A and D ------------------------------------------------------------------------------------

// The resolve that ends a tail, and the block that is open without a forward so far.
inline uint32_t Track::EndTailAndBlock() const {
  const uint32_t resolve = WithAutoFate(kAutoKeepAll, kAutoTail, kAutoNothing);
  const bool interrupts = block_ != nullptr && IsAutoOpen(before_block_);
  return WithAutoFate(resolve, kAutoBlock,
                      interrupts ? AutoFateOf(resolve, before_block_) : kAutoNothing);
}

void Track::BeginChoice() {
  if (IsInsideOther() || IsInsideForward() || step_ != 0) return;
  if (IsNameOpen() || !FollowsNow()) return;
  ResolveAndRun(DropUnproven(EndTailAndBlock()), kAutoBetween);
  expects_ = Expects::kChosen;
  block_ = nullptr;
  drawn_ = makes_ = false;
}

void Track::BeginDraw() {
  if (IsInsideOther() || IsInsideForward() || step_ != 0 || !has_environment) return;
  if (IsNameOpen() || expects_ == Expects::kDrawn || !FollowsNow()) return;
  ResolveAndRun(WithAutoFate(EndTailAndBlock(), kAutoBetween, kAutoNothing), kAutoTail);
  expects_ = Expects::kDrawn;
  block_ = nullptr;
  drawn_ = true;
  makes_ = is_unproven_ = false;
}

// ---- I ------------------------------------------------------------------------------------------

void Track::BeginImport() {
  if (IsInsideCode() || IsPartOfOther() || conversion_ != 0 || block_ != nullptr) return;
  if (IsNameOpen() || expects_ == Expects::kStep) return;
  if (!Follows() || (state_ != kAutoNothing && state_ != kAutoTail)) return;
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

void Track::End() {
  const uint32_t stretch = evaluations_.End();
  if (stretch != kAutoStretchKeeps && Follows()) SayOfStretch(stretch);
}

// ---- of the process -----------------------------------------------------------------------------

void StartTracks(ModuleState* state) { track_phases = state; }

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
