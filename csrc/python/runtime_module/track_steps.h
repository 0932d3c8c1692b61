// What the files of the automatic track share: its records and names, of every event.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TRACK_STEPS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TRACK_STEPS_H_

#include "native_calls/call.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/track_records.h"
#include "runtime/hot.h"

namespace rlscope::python {

using runtime::Load;
using namespace trace;  // NOLINT: the states and kinds of record.h, in every line

// Hooks are process-wide, and so is what they feed.
extern uint64_t explicit_in;  // generation, plus one, of the image that had an explicit operation
extern uint64_t optimizer_steps;     // of all threads
extern uint64_t outermost_forwards;  // the same, under the GIL

inline bool HasExplicit() {
  return __atomic_load_n(&explicit_in, __ATOMIC_RELAXED) == Load(rlscope_process.generation) + 1ull;
}

inline void CountStep() { __atomic_fetch_add(&optimizer_steps, 1, __ATOMIC_RELAXED); }

inline const void* ModuleOf(const Arguments& call) {
  return call.values == nullptr ? nullptr : *call.values;
}

// What a module is given: __call__(module, input, ...).
inline const PyObject* FirstInput(const Arguments& call) {
  const bool has_any = call.values != nullptr && PyVectorcall_NARGS(call.flagged_count) > 1;
  return has_any ? call.values[1] : nullptr;
}

constexpr bool IsInForward(uint32_t state) {
  return state == kAutoInside || state == kAutoAside || state == kAutoGeneration;
}

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
  changes_ = 0;
  drawn_ = makes_ = is_unproven_ = has_output_ = prepares_ = false;
  run_.End();
}

// What a forward without gradients is where others have some.
inline uint32_t Track::NameOfAside(uint32_t inside) const {
  if (inside != kAutoBackprop || !has_gradients_) return inside;
  if (!modules_.is_aside_trained()) {
    const bool is_of_texts = generated_ || (modules_.has_texts() && !has_environment);
    return is_of_texts ? kAutoReference : kAutoTarget;
  }
  const bool is_rollout = !updated_ && !drawn_ && modules_.is_aside_first();
  return is_rollout ? kAutoAdvantage : kAutoBackprop;
}

// With the block that is open without a forward so far: it becomes what it interrupted, as far as
// `resolve` names that.
inline uint32_t Track::EndBlock(uint32_t resolve) const {
  const bool interrupts = block_ != nullptr && IsAutoOpen(before_block_);
  return WithAutoFate(resolve, kAutoBlock,
                      interrupts ? AutoFateOf(resolve, before_block_) : kAutoNothing);
}

// The resolve that names everything open.
inline uint32_t Track::NameAll(uint32_t inside, uint32_t between, uint32_t after,
                               uint32_t tail) const {
  uint32_t resolve = WithAutoFate(0, kAutoInside, inside);
  resolve = WithAutoFate(resolve, kAutoAside, NameOfAside(inside));
  resolve = WithAutoFate(resolve, kAutoBetween, between);
  resolve = WithAutoFate(resolve, kAutoAfter, after);
  resolve = WithAutoFate(resolve, kAutoTail, tail);
  return EndBlock(resolve);
}

// `tail`: of what runs as one, unless that is a batch that was drawn, or follows an X.
inline uint32_t Track::NameAllOfUpdate(uint32_t tail = kAutoBackprop) const {
  if (has_output_) tail = has_gradients_ ? kAutoBackprop : kAutoNothing;
  const uint32_t between = prepares_ ? kAutoBackprop : kAutoNothing;
  return NameAll(kAutoBackprop, between, kAutoBackprop, drawn_ ? kAutoReplay : tail);
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

// ---- parts of several events --------------------------------------------------------------------

// What the forwards so far go on as.
inline uint32_t Track::AfterForward() const {
  if (has_output_) return kAutoTail;
  return has_gradients_ ? kAutoAfter : kAutoBetween;
}

// What a conversion is that turned out to be none.
inline uint32_t Track::Unconverted() const { return prepares_ ? kAutoTail : kAutoNothing; }

inline uint32_t Track::DropUnproven(uint32_t resolve) {
  if (!is_unproven_) return resolve;
  is_unproven_ = false;
  return WithAutoFate(resolve, kAutoBetween, Unconverted());
}

inline uint32_t Track::TakeOutput(uint32_t resolve) {
  if (!has_output_) return resolve;
  has_output_ = false;
  return WithAutoFate(resolve, kAutoTail, AfterForward());
}

// Whether something was converted for the F that begins.
inline bool Track::IsGiven(const Arguments& call) const {
  if (expects_ == Expects::kForward && converts_ && !is_unproven_) return true;
  if (block_ != nullptr && block_has_conversion_) return true;
  return observation_.IsMade(FirstInput(call));
}

inline __attribute__((always_inline)) void Track::OpenForward(const Arguments& call,
                                                              const void* module, bool on) {
  // Inside an O the forward of a closure changes nothing once there was a B.
  if (step_ != 0 && ExpectsStep()) return;
  const bool is_given = IsGiven(call);
  if (__builtin_expect(tests_, 0) && is_given) NameTest();
  const bool ends_tail = ExpectsStep() || prepares_;
  prepares_ = false;
  uint32_t resolve = DropUnproven(TakeOutput(kAutoKeepAll));
  if (ends_tail) {
    resolve = WithAutoFate(resolve, kAutoTail, kAutoNothing);
    before_block_ = kAutoNothing;
  }
  if (expects_ == Expects::kToken) resolve = WithAutoFate(resolve, kAutoBetween, kAutoNothing);
  if (expects_ != Expects::kName) {
    is_given_ = is_given;
    tests_ = acts_given_ && !is_given && !acts_first_ && ExpectsStep();
    has_gradients_ = backward_inside_ = false;
    acting_.Open(/*is_judged=*/!has_environment);
    modules_.Open();
  }
  expects_ = Expects::kName;
  observation_.NoteMade(nullptr);
  has_gradients_ |= on;
  const bool is_first = block_ == nullptr || !block_has_forward_ || state_ == kAutoGeneration;
  modules_.Note(module, on, is_first || NamesForwards());
  const AutoState inside = on ? kAutoInside : kAutoAside;
  if (block_ == nullptr || state_ == kAutoGeneration) {
    resolve != kAutoKeepAll ? ResolveAndRun(resolve, inside) : Run(inside);
  } else if (!block_has_forward_) {
    block_has_forward_ = true;
    Resolve(WithAutoFate(resolve, kAutoBlock, inside));
  }
}

// The call of the function that may evaluate has ended, or the thread learns in it.
inline trace::AutoStretch Track::EndCall(bool evaluates) {
  evaluates_ = nullptr;
  return evaluations_.EndCall(evaluates);
}

// What a resolve has to say of a stretch that may be an evaluation.
inline uint32_t Track::NoteUpdate() {
  if (fed_) return kAutoStretchKeeps;
  fed_ = true;
  AutoStretch was = kAutoStretchKeeps;
  if (__builtin_expect(evaluates_ != nullptr, 0)) {
    // Without an environment, no F lies between: the update is one from those in the call.
    const bool learns = !has_environment || evaluates_->IsRunning();
    if (learns) evaluates_->Reject();
    was = EndCall(!learns);
  }
  const AutoStretch of_update = evaluations_.Update();
  return was != kAutoStretchKeeps ? was : of_update;
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TRACK_STEPS_H_
