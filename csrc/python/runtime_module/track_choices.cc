// The automatic track around a choice: what a forward is given, what is made of what it returns,
// and what is drawn at random.
#include "python/runtime_module/track_steps.h"

namespace rlscope::python {

// ---- K ------------------------------------------------------------------------------------------

// `object`: null for an L.
void Track::BeginConversion(const PyObject* object) {
  if (IsInsideOther() || IsInsideForward() || step_ != 0) return;
  // Of the observation itself.
  const bool begins = object != nullptr && !observation_.IsConverted(object);
  if (block_ != nullptr) {
    block_has_conversion_ |= begins && !block_has_forward_;
    return;
  }
  if (__builtin_expect(tests_, 0) && begins && FollowsNow()) NameTest();
  if (IsNameOpen() || !FollowsNow()) return;
  const bool goes_on = expects_ == Expects::kForward || expects_ == Expects::kDrawn;
  if (!goes_on) converts_ = has_key_ = is_unproven_ = false;
  const bool drops =
      converts_ && (object == nullptr ? is_unproven_ : !observation_.IsConverted(object));
  uint32_t resolve = kAutoKeepAll;
  if (ExpectsStep() || expects_ == Expects::kDrawn) {
    resolve = WithAutoFate(resolve, kAutoTail, kAutoNothing);
    drawn_ = false;
  }
  if (drops) {
    // As an observation is converted to be stored, and once more for the forward.
    resolve = WithAutoFate(resolve, kAutoBetween, Unconverted());
    converts_ = has_key_ = is_unproven_ = false;
  }
  resolve != kAutoKeepAll ? ResolveAndRun(resolve, kAutoBetween) : Run(kAutoBetween);
  object == nullptr ? has_key_ = true : converts_ = true;
  expects_ = Expects::kForward;
}

void Track::EndConversion() {
  if (expects_ != Expects::kForward || has_key_ || state_ != kAutoBetween || !Follows()) return;
  if (state_ == kAutoBetween) Run(Unconverted());  // else of another window
}

// ---- W and X ------------------------------------------------------------------------------------

bool Track::CanMake() const {
  const bool is_part = block_ != nullptr && block_has_forward_;
  return !IsInsideOther() && !IsInsideForward() && step_ == 0 && !is_part;
}

// What was converted before is not for the next F.
void Track::BeginMaking() {
  if (!FollowsNow() || !(expects_ == Expects::kNothing || is_unproven_)) return;
  is_unproven_ ? ResolveAndRun(DropUnproven(kAutoKeepAll), kAutoBetween) : Run(kAutoBetween);
  expects_ = Expects::kForward;
  converts_ = makes_ = is_unproven_ = true;
  has_key_ = false;
}

// What follows an X is a part of what is open only if something more of that comes.
void Track::EndOutput() {
  if (IsInsideOther() || IsInsideForward() || step_ != 0 || drawn_ || !FollowsNow()) return;
  if (has_gradients_ && (!acts_first_ || acted_)) return;
  if (block_ != nullptr) {
    has_output_ |= block_has_forward_;
  } else if (expects_ == Expects::kName) {
    has_output_ ? ResolveAndRun(TakeOutput(kAutoKeepAll), kAutoTail) : Run(kAutoTail);
    has_output_ = true;
  }
}

// ---- A and D ------------------------------------------------------------------------------------

void Track::BeginChoice() {
  if (IsInsideOther() || IsInsideForward() || step_ != 0) return;
  if (IsNameOpen() || !FollowsNow()) return;
  prepares_ = false;
  const uint32_t resolve = DropUnproven(WithAutoFate(kAutoKeepAll, kAutoTail, kAutoNothing));
  ResolveAndRun(EndBlock(resolve), kAutoBetween);
  expects_ = Expects::kChosen;
  block_ = nullptr;
  drawn_ = makes_ = false;
}

void Track::BeginDraw() {
  if (has_environment) OpenDraw();
}

// Whether it counts.
bool Track::OpenDraw() {
  if (IsInsideOther() || IsInsideForward() || step_ != 0) return false;
  if (__builtin_expect(acts_first_, 0) && MayHaveChosen() && FollowsNow()) NameChosen();
  if (IsNameOpen() || expects_ == Expects::kDrawn || !FollowsNow()) return false;
  prepares_ = is_batch_ = false;
  uint32_t resolve = DropUnproven(WithAutoFate(kAutoKeepAll, kAutoTail, kAutoNothing));
  // What was converted is for an F behind the draw, too. A key may have been for the draw.
  const bool keeps = expects_ == Expects::kForward && !has_key_;
  if (!keeps) {
    resolve = WithAutoFate(resolve, kAutoBetween, kAutoNothing);
    converts_ = has_key_ = false;
    // A rollout may be over: what holds its batch may get the memory of its last observation.
    observation_.NoteConverted(nullptr);
  }
  ResolveAndRun(EndBlock(resolve), kAutoTail);
  expects_ = Expects::kDrawn;
  block_ = nullptr;
  drawn_ = true;
  makes_ = false;
  return true;
}

}  // namespace rlscope::python
