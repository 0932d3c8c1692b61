// Operations without annotation: what a thread's calls into an environment, a module, the
// autograd engine and an optimizer say about its algorithm.
//
//   S  outermost Env.step or reset, or       B  outermost backward or autograd.grad
//      an exchange of messages (exchange.h)
//   F  outermost module forward, or a        O  outermost optimizer step
//      no-grad block with one in it
//   C  outermost call of a compiled function (tf.function, jax.jit)
//   U  outermost call with which a library trains a model on a batch
//   K  outermost conversion of the observation that the thread's last S returned, also by a
//      library's own pipeline from environment to module
//   W  outermost call that makes a tensor of anything else
//   X  outermost conversion of a tensor to something else, as of what forwards returned; the end of
//      an A or D, too
//   L  outermost call that makes a random key, for what a policy draws
//   A  outermost sample of a space of actions
//   D  outermost draw of some out of many, at random
//   G  outermost call of a buffer that takes a batch out of it; inside it is a V
//   J  compilation: tracing and compiling code
//   H  change of a tensor in place
//   V  outermost evaluation, saving or loading, or a library's own making of an update's batch
//   R  no-grad block, or F without gradients, in a function that computes a reward by its name
//   I  outermost execution of a module that is imported
//
// A function that torch.compile() made is a block too: with an F if its code has one.
//
// S is `simulation`. The first F after an S, a B or an O opens an operation whose name is open:
//
//   [ F ]    [ F ]        [ S ]      it was inference, from the first F to the entry of S
//   |---- inference -----|
//
//   [no-grad F]   [ F ]   [ F ]   [ B ]  [ O ]  [ O ]   (F or S)
//   |--target-|   |-------------- backprop ---------|
//
// A no-grad F that comes between is `target` too. Without a gradient in any F it is `backprop`.
// It is no target where all modules in the no-grad F of the update were trained, by this B or an
// earlier one, or lie inside of one that has gradients. Then it is `advantage` if an F of this kind
// was the first one since the last S, and no batch was drawn before it; else a part of the update,
// `backprop`.
//
// Before the first S or O of a thread an S names the forwards only, as at the program's end.
//
// Where five F or more write a text (token_run.h), what is open is a generation:
//
//   [ F ] [ F ] [ F ] [ F ] [ F ]   [ F ]    [another F]
//   |----------- generation ------------|
//
// In a no-grad block it lasts to the end of the block. If two F of it or more lie in the block, no
// F after the block goes it on. An F inside an O is none of them.
//
// After a generation, until an S or O, a no-grad F has its name when it ends, once the thread has
// trained a module: `reference` if none of its own was, `reward` if it returns a number for each
// text, and else `backprop`. In a no-grad block with several F that is the time since the one
// before.
//
// Four H or more behind a B or O, before anything else, are a part of backprop, with the time
// before them. In a no-grad block that is the whole block, if no F lies in it.
//
// Without an O backprop ends with B; without gradients in any F it begins with B; when neither S
// nor B comes, the forwards are inference and the rest is nothing.
//
// Without any S, a backward may use the last F only: the program acts with gradients. PyTorch's
// graph tells. Then all F before it are inference, each for its own time. From then on, an F of a
// module that had one since the operation opened makes what is open inference in the same way.
//
// Without any S in the process, an X names what is open once an F follows: inference, up to the X.
// An F that may go on a text leaves it open. The same holds in a thread that acts before it learns:
// where an update was since the S before, it has stepped last right after that, with an action.
// There the first X names F with gradients, too. Without gradients, a D behind them does so at
// once, and without an X: what the update learns from is drawn after the action was chosen.
//
// Calls inside S or B belong to it. Inside O, which may call a closure, no F ends backprop. A B
// inside F is part of F (gradients as an output, a compiler that traces) unless an O follows inside
// as well. Calls and blocks that enclose an S, a B or an O are not counted after it.
//
// If no F lies between an S and the first B behind it, as where a program learns from the F that it
// acted with, the next time `backprop` begins with the end of the S. For that, nothing but K, L and
// W may come between. Before the first B, a thread is expected to do so if it acts with gradients.
//
// A K is a part of the next F, if that is inference. If two K convert one object, the later one
// counts. What lies between K and F is nothing. K inside any other call or block is a part of that.
//
// A W is a K if the next F is given its result, or what K made of that, as its first argument. A
// later K, W or L takes its place. A W behind a K or L, or where something is open, is nothing.
//
// An F is given a K if it is for that F, or of the observation and in the block that the F is first
// in. It is given a W, too, if its first argument is what a W, or what W would be if nothing were
// open, has made since the F before.
//
// If an F that is given one opened the operation that the last S named, and the thread does not act
// before it learns, an F that is given none opens a test right behind a B or O:
//
//   [ B ]  [ O ]   [ F ]    [ K ] [ F ]      [ S ]
//   |-backprop-|   |backprop|inf.| |--inference--|
//
// It is `backprop`, up to a K of the observation, or to an F that is given one of the others, or to
// the block of either. Where an X is behind the last F, and no F has gradients, it ends with that.
// With an S, B or O before, it is no test.
//
// Inference that its F opened ends with the last X behind the last F, if there is one, and not with
// the S. In a no-grad block it ends with the block. With a D before the F, or if one of its F has
// gradients, it ends with the S.
//
// Where a thread learns from the S of one environment, a stretch of S of another one may be an
// `evaluation` (evaluations.h): from the begin of its first S to the end of its last one, with
// whatever lies between.
//
// The same holds for steps in a call of a function whose name says that it evaluates, after an
// update, if no update lies in the call. Where a thread acts before it learns, an S may lie
// between.
//
// Without any S in the process, F do instead of steps, and the V that write texts: from the begin
// of the first F in such a call to the end of the last one. Eight F or more have to lie in it, or
// such a V, and then one elsewhere. Others have to have been inference or a generation elsewhere,
// before.
//
// From an L to the next F is a K, which takes no other one's place. An L where something is open is
// a part of that.
//
// From an A to the next S is inference, with the K before it, if there is no B and O between. With
// an F before it, it is a part of what that opened.
//
// From a D to the next S is inference, too, with the K before it, once the thread has had two S. F
// may come between, and nothing else of what ends a `replay`. A D behind an L takes its place. A D
// that gives several is none of these where the process steps one environment (rewards.h). Nor is
// one that an I follows first: the program still sets up.
//
// From a D to the next F, or B, is `replay`, if an update follows: a B without an S, an O, an A or
// a K between. A D that something is open at is a part of that. There must have been an S in the
// process. From the end of a G it is the same, but before any S, too, and nothing chooses an
// action.
//
// Calls inside C belong to it. Once there was an S in the process, C is one of four:
//
//   It computes gradients, as tracing told. Then it is a B and an O in one, `update:<function>`.
//   Time between two of them in a row is `backprop`, if the thread has had an S. The C that is
//   traced is an F until it ends.
//   If it is given nothing but what it returned itself, it has seen no observation. Then it is as
//   before the first S.
//   If its last call returned nothing, it is no F. Its end is as many H as there must be at least.
//   Else it is an F without gradients. So is a call that waits for its result, where F name it.
//
// Before the first S of the process it is `compiled:<function>`, and no other event: what it
// interrupts goes on after it. Inside any other event it is a part of that.
//
// U is like a C that computes gradients, once there was an S. It is `update`.
//
// V is like the C before the first S, with the name of its kind.
//
// R is a V, `reward`, once the thread had an S, and so is a K, L or W before it. An S ends it: a
// function that steps an environment is no such one (reward_functions.h), from then on.
//
// J is `compilation`. It is like V, but interrupts everything except a V, even an S, F, B, O, C or
// U around it. In a C it lasts from its first phase to the end of its last one (or of the C).
//
// I is `import` where no other call and no no-grad block is open, no action was chosen for the next
// S, no text is written, no F with gradients waits for its name, and no B for its first O. What it
// interrupts goes on after it.
// Whatever else begins inside an I ends it, and I inside that one count anew: a program may train
// while its module is imported.
//
// The track is written as it happens; names that turn out later are resolves
// (trace/layout/record.h).
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_TRACK_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_TRACK_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "python/runtime_module/acting.h"
#include "python/runtime_module/evaluating_functions.h"
#include "python/runtime_module/evaluations.h"
#include "python/runtime_module/forward_modules.h"
#include "python/runtime_module/observation.h"
#include "python/runtime_module/own_environments.h"
#include "python/runtime_module/rewards.h"
#include "python/runtime_module/token_run.h"
#include "trace/layout/record.h"

namespace rlscope::python {

struct CompiledSlot;
class Exchange;
struct ModuleState;

// The automatic track of one thread. Its methods are called by that thread only, with the GIL or
// its own thread state, and leave a pending Python exception alone.
class Track {
 public:
  // Each Enter has its Leave, whatever happens between. A call inside another one of its kind only
  // counts: that much is inline. EnterSimulation: true when the program should end here (an
  // iteration began after the last one that was wanted).
  // `given`: it is given an action.
  bool EnterSimulation(const PyObject* environment, bool given) {
    ++calls_;
    return simulation_++ == 0 && BeginSimulation(environment, given);
  }
  // `result` of the call, null if it raised. Whether it was the outermost one.
  bool LeaveSimulation(PyObject* result) {
    if (--simulation_ != 0) return false;
    if (apart_ == 0) observation_.Set(result);  // an evaluation has another environment
    EndSimulation();
    return true;
  }
  // An S that lasts for messages to processes that step environments (exchange.h), and their
  // answers. Some of what is no message ends it.
  bool EnterExchange(const Exchange* exchange) {
    exchange_ = exchange;
    return EnterSimulation(Py_None, /*given=*/true);
  }
  void LeaveExchange(PyObject* result) {
    exchange_ = nullptr;
    LeaveSimulation(result);
  }
  void EndExchange() {
    if (__builtin_expect(exchange_ != nullptr, 0)) LeaveExchange(/*result=*/nullptr);
  }
  const Exchange* exchange() const { return exchange_; }
  // S of the thread so far that are no exchange.
  uint32_t own_steps() const { return own_steps_; }
  // Whether a message may be a part of an exchange: nothing else is open.
  bool MayExchange() const {
    return (backward_ | step_) == 0 && simulation_ == (exchange_ == nullptr ? 0 : 1) &&
           !IsInsideCode() && !IsInsideForward();
  }
  void EnterForward(const Arguments& call) {
    if (!IsInsideForward()) {
      BeginForward(call, Gradients::kAsk);
    } else if (__builtin_expect(modules_.notes_nested(), 0)) {
      NoteNested(call);
    }
    ++forward_;
  }
  // For a library that has gradients where a tape is open.
  void EnterTapedForward(const Arguments& call) {
    if (!IsInsideForward()) BeginForward(call, tape_ > 0 ? Gradients::kOn : Gradients::kOff);
    ++forward_;
  }
  // The call with which a library asks a model: an F without gradients, once there was an S.
  void EnterPrediction() {
    if (prediction_++ == 0) predicts_ = BeginPrediction();
  }
  void LeavePrediction() {
    if (--prediction_ == 0 && predicts_) LeaveForward(/*result=*/nullptr);
  }
  void EnterTape() { ++tape_; }
  void LeaveTape() {
    if (tape_ > 0) --tape_;  // a tape may have been open before anybody looked
  }
  // `result` of the call, null if it raised or is not known.
  void LeaveForward(PyObject* result) {
    if (--forward_ > forward_base_) return;
    if (__builtin_expect(reward_is_ == Reward::kForward, 0)) return EndReward();
    run_.NoteResult(result);
    if (__builtin_expect(generated_, 0)) gives_scores_ = GivesScores(result);
    if (__builtin_expect(acting_.is_first(), 0)) {
      acting_.EndFirst(expects_ == Expects::kName && has_gradients_ ? result : nullptr);
    }
    EndForward();
  }
  // `outputs`: the first argument of PyTorch's own function; null where it is not known.
  void EnterBackward(PyObject* outputs) {
    if (backward_++ == 0) BeginBackward(outputs);
  }
  void LeaveBackward() {
    if (--backward_ == 0) EndBackward();
  }
  // True as of EnterSimulation.
  bool EnterStep(const PyObject* optimizer) { return step_++ == 0 && BeginStep(optimizer); }
  void LeaveStep() {
    if (--step_ == 0) EndStep();
  }
  // True as of EnterSimulation: the C, which comes next, is not to be called.
  bool EndsWithCompiled(const PyObject* function);
  // Whether it is the outermost C.
  bool EnterCompiled(PyObject* function, const Arguments& call) {
    if (compiled_++ != 0) return false;
    BeginCompiled(function, call);
    return true;
  }
  // The call waits for what a C has made, null if that is not known.
  void EnterResult(const CompiledSlot* maker) {
    if (compiled_++ == 0) BeginResult(maker);
  }
  void LeaveResult() {
    if (--compiled_ == 0) EndResult();
  }
  void LeaveCompiled() {
    if (--compiled_ == 0) EndCompiled();
  }
  // Whether converting the object is a K.
  bool IsOfObservation(PyObject* object) const { return observation_.Covers(object); }
  void EnterConversion(const PyObject* object) {
    if (conversion_++ == 0) BeginConversion(object);
  }
  // `result` of the call, null if it raised.
  void LeaveConversion(const PyObject* result) {
    observation_.NoteConverted(result);
    if (--conversion_ == 0) EndConversion();
  }
  // Whether converting an object that is no observation may be a W.
  bool MayMake() const {
    return simulates_ && conversion_ == 0 &&
           (expects_ == Expects::kNothing || (expects_ == Expects::kForward && is_unproven_)) &&
           block_ == nullptr && CanMake();
  }
  // Of a call that makes something and is no W, or that converts what was made: the next F may be
  // given its result.
  void NoteMade(const PyObject* result) {
    if (simulates_ && CanMake()) observation_.NoteMade(result);
  }
  bool IsMade(const PyObject* object) const { return observation_.IsMade(object); }
  void EnterMaking() {
    ++conversion_;
    BeginMaking();
  }
  // `result` of the call, null if it raised.
  void LeaveMaking(const PyObject* result) {
    if (makes_) observation_.NoteConverted(result);
    makes_ = false;
    if (--conversion_ == 0) EndConversion();
  }
  void EnterOutput() { ++output_; }
  void LeaveOutput() {
    if (--output_ == 0 && expects_ == Expects::kName) EndOutput();
  }
  // An X to numbers, which counts in a process without an S only.
  void EnterValue() {
    if (__builtin_expect(has_environment, 1)) return;
    ++values_;
    EnterOutput();
  }
  void LeaveValue() {
    if (__builtin_expect(values_ == 0, 1)) return;
    --values_;
    LeaveOutput();
  }
  // What a forward is given beside the observation. In an update it is a part of that.
  void EnterRandomKey() {
    if (conversion_++ == 0 && !ExpectsStep() && expects_ != Expects::kDrawn) {
      BeginConversion(/*object=*/nullptr);
    }
  }
  void LeaveRandomKey() { --conversion_; }
  void EnterChoice() {
    if (choice_++ == 0) BeginChoice();
  }
  void LeaveChoice() {
    if (--choice_ == 0 && expects_ == Expects::kName) EndOutput();
  }
  void EnterDraw() {
    if (draw_++ == 0) BeginDraw();
  }
  // `result` of the call, null if it raised.
  void LeaveDraw(PyObject* result) {
    if (--draw_ == 0 && expects_ == Expects::kName) EndOutput();
    if (drawn_ && !is_batch_) is_batch_ = IsBatch(result);
  }
  void EnterTraining() {
    if (training_++ == 0) BeginLibraryTraining();
  }
  void LeaveTraining() {
    if (--training_ == 0) EndLibraryTraining();
  }
  // Whether an H would count.
  bool MayChange() const {
    return ExpectsStep() && step_ == 0 && !imports_ && !IsInsideOther() && !IsInsideForward();
  }
  // Some H have ended.
  void NoteChanges(uint64_t count);
  // `name`: a constant, the name of the V.
  void EnterApart(const char* name) {
    if (apart_ == 0) BeginApart(name);
    ++apart_;
  }
  // Of a library's own, a V.
  void EnterGeneration() {
    if (apart_ == 0) BeginGeneration();
    ++apart_;
    if (apart_ == 1) writes_ = name_ != 0 && evaluates_ == nullptr;
  }
  // Whether it counts.
  bool LeaveGeneration() {
    const bool counts = apart_ == 1 && writes_;
    LeaveApart();
    return counts;
  }
  void LeaveApart() {
    if (--apart_ == 0) EndNamed();
  }
  // What is made of the batch belongs to it, up to the update.
  void EnterSampling() {
    if (apart_ == 0) BeginState("replay", trace::kAutoReplay);
    ++apart_;
  }
  void LeaveSampling() {
    if (--apart_ == 0) EndSampling();
  }
  // `counts`: else those inside may be the outermost.
  void EnterImport(bool counts) {
    if (counts && import_ == import_base_) BeginImport();
    ++import_;
    if (!counts) import_base_ = import_;
  }
  // Whether the import that ends next was nothing but an import: no part of the program's loop
  // began inside of it.
  bool IsImport() const { return import_ > import_cut_; }
  void LeaveImport() {
    if (--import_ < import_cut_) import_cut_ = import_;
    if (import_ > import_base_) return;
    import_base_ = import_;
    if (imports_) EndImport();
  }
  // A forward that is not called itself: the block that is open has one.
  void NoteForward(bool has_gradients);
  void EnterCompilation() {
    if (compilation_++ == 0) BeginCompilation();
  }
  // `is_last`: it is the last phase of the compilation.
  void LeaveCompilation(bool is_last) {
    if (--compilation_ == 0 && !IsInsideApart() && (is_last || compiled_ == 0)) EndCompilation();
  }
  // Gradients are computed, or traced for the C that is open: an iteration's last step.
  void NoteGradients();
  // `block` distinguishes blocks that are open at one time. Either call may be missing.
  void EnterBlock(const void* block);
  void LeaveBlock(const void* block);

  // The thread is about to run another greenlet than this one; null: its own first one. Gives
  // whether this one called an S or F while another one was inside of an operation.
  bool LeaveGreenlet(const PyObject* greenlet);
  // It runs this one again.
  void ResumeGreenlet(const PyObject* greenlet) {
    if (greenlet == holder_) is_held_ = false;
  }

  // The process ends.
  void End();

  // So far, recorded or not, but for those inside of an S or a V.
  PolicyCalls policy_calls() const { return policy_calls_; }

  // Whether events are recorded; where they are not, ends what is open.
  bool Follows();

 private:
  enum class Expects : uint8_t {
    kNothing,    // no operation is open
    kForward,    // an observation was converted
    kChosen,     // an action was chosen: it goes on to the next S
    kName,       // forwards were seen: what comes next names them
    kToken,      // forwards of a generation were: it goes on to the end of the last one
    kDrawn,      // something was drawn: a batch up to the next F, or an action up to the next S
    kStep,       // backprop goes on to the end of an O, if one comes
    kMoreSteps,  // an O came; the same for further ones
  };

  bool BeginSimulation(const PyObject* environment, bool given);
  void NoteOrder(bool given);
  void EndSimulation();
  enum class Gradients : uint8_t { kOff, kOn, kAsk };
  void BeginForward(const Arguments& call, Gradients gradients);
  void EndForward();
  bool BeginPrediction();
  enum class Reward : uint8_t { kNone, kForward, kBlock };
  bool BeginReward(Reward kind);
  void EndReward();
  void EndRewardByStep();
  void BeginBackward(PyObject* outputs);
  void NameChosen();
  // Whether F without gradients wait for their name, which a D may give: the first since the S.
  bool MayHaveChosen() const {
    return expects_ == Expects::kName && block_ == nullptr && !has_gradients_ && !acted_ && !drawn_;
  }
  void NameTest();
  void NameBefore(uint32_t resolve);
  bool IsGiven(const Arguments& call) const;
  void RepeatForward();
  void NameActing();
  void EndBackward();
  bool BeginStep(const PyObject* optimizer);
  void EndStep();
  bool ExpectsStep() const { return expects_ == Expects::kStep || expects_ == Expects::kMoreSteps; }
  // A program that moves a target network, or steps by itself, changes tensor after tensor.
  static constexpr uint64_t kManyChanges = 4;
  bool HasManyChanges() const { return changes_ >= kManyChanges; }
  void GoOnWithUpdate();
  void OpenForward(const Arguments& call, const void* module, bool has_gradients);
  void OpenToken();
  void BeginCompiled(PyObject* function, const Arguments& call);
  void EndCompiled();
  void NoteCalled(const CompiledSlot* called, bool trains);
  void BeginCompiledForward(PyObject* function);
  void EndCompiledForward(bool trains);
  void BeginTraining(uint32_t name);
  void EndTraining();
  void NoteTrained();
  void BeginLibraryTraining();
  void EndLibraryTraining();
  void BeginResult(const CompiledSlot* maker);
  void EndResult();
  void BeginApart(const char* name);
  void BeginGeneration();
  void BeginNamed(uint32_t name);
  void EndNamed();
  void BeginState(const char* name, uint32_t state);
  void EndSampling();
  void BeginImport();
  void EndImport();
  void BeginCompilation();
  void EndCompilation();
  void EndPhases();
  void BeginConversion(const PyObject* object);
  void EndConversion();
  bool CanMake() const;
  void BeginMaking();
  void EndOutput();
  uint32_t TakeOutput(uint32_t resolve);
  uint32_t Unconverted() const;
  uint32_t DropUnproven(uint32_t resolve);
  void BeginChoice();
  void BeginDraw();
  bool OpenDraw();
  uint32_t EndBlock(uint32_t resolve) const;

  bool IsInsideForward() const { return forward_ != forward_base_; }
  bool IsInsideCode() const { return (compiled_ | compilation_ | apart_) != 0; }
  bool IsInsideApart() const { return apart_ != (library_trains_ ? 1 : 0); }
  bool IsInsideOther() const { return (simulation_ | backward_) != 0 || IsInsideCode(); }
  // Where a C or a V counts for nothing of its own.
  bool IsPartOfOther() const { return (simulation_ | backward_ | step_) != 0 || IsInsideForward(); }
  // Something later names it.
  bool IsNameOpen() const {
    return expects_ == Expects::kChosen || expects_ == Expects::kName ||
           expects_ == Expects::kToken;
  }
  // A forward without gradients has its name when it ends.
  bool NamesForwards() const { return __builtin_expect(generated_, 0) && modules_.trains(); }
  bool HasOpen() const { return expects_ != Expects::kNothing || block_ != nullptr || prepares_; }
  bool FollowsNow();
  bool IsNewIteration();
  bool NoteUpdateOf(const PyObject* optimizer);
  trace::AutoStretch NoteCall(const void* environment, bool is_fed);
  trace::AutoStretch EndCall(bool evaluates);
  bool EvaluatesAlone() const { return forwards_alone_ >= kEvaluates; }
  void NoteAlone(int forwards);
  void BeginAlone();
  void EndAlone();
  bool IsInLoop() const;
  void Forget();
  void Decide(Expects next);
  uint32_t AfterForward() const;
  void NoteNested(const Arguments& call);
  uint32_t NameOfAside(uint32_t inside) const;
  void RunAfterForward();
  void NameForward(uint32_t next);
  uint32_t NameAll(uint32_t inside, uint32_t between, uint32_t after, uint32_t tail) const;
  uint32_t NameAllOfUpdate(uint32_t tail) const;
  void Resolve(uint32_t resolve);
  void Run(uint32_t state);
  void NoteSegment();
  uint32_t NoteUpdate();
  void NoteOtherUpdate();
  void SayOfStretch(uint32_t stretch);
  void ResolveAndRun(uint32_t resolve, uint32_t state);

  // Calls that are open. Those of forwards up to forward_base_ enclose an S, a B or an O.
  uint32_t simulation_ = 0;
  uint32_t forward_ = 0;
  uint32_t forward_base_ = 0;
  uint32_t tape_ = 0;
  uint32_t backward_ = 0;
  uint32_t step_ = 0;
  uint32_t compiled_ = 0;
  uint32_t compilation_ = 0;
  uint32_t conversion_ = 0;
  uint32_t output_ = 0;
  uint32_t values_ = 0;
  uint32_t choice_ = 0;
  uint32_t draw_ = 0;
  uint32_t apart_ = 0;
  uint32_t training_ = 0;
  uint32_t prediction_ = 0;
  uint32_t import_ = 0;
  uint32_t import_base_ = 0;  // imports that something else began inside of
  uint32_t import_cut_ = 0;   // the same; without those that do not count
  bool imports_ = false;      // an I runs; state_ is what it interrupts

  // The outermost no-grad block that began after the last S, B and O; null: none.
  const void* block_ = nullptr;
  uint32_t block_entries_ = 0;
  bool block_has_forward_ = false;
  bool block_has_change_ = false;
  bool block_has_conversion_ = false;           // of the observation, before its first F
  uint8_t before_block_ = trace::kAutoNothing;  // what ran
  // The function of the last R since the last S, and which kind of R is open; its block.
  TellingFunction* rewards_ = nullptr;
  Reward reward_is_ = Reward::kNone;
  const void* reward_block_ = nullptr;

  uint8_t state_ = trace::kAutoNothing;  // what runs, as the records say; kAutoNamed: C, V, J
  uint8_t before_named_ = trace::kAutoNothing;  // what the C or V that runs interrupts
  uint32_t name_ = 0;                           // of the C or V that runs; 0: none does
  PyObject* called_ = nullptr;                  // the outermost C that is open, borrowed
  CompiledSlot* last_compiled_ = nullptr;  // the last C that was an F since the operation opened
  // The last C that trains, until something waits for its results, and the last C after it.
  const CompiledSlot* unawaited_ = nullptr;
  const CompiledSlot* after_update_ = nullptr;
  enum class Runs : uint8_t { kOther, kForward, kTraining, kChanges };
  Runs compiled_is_ = Runs::kOther;     // of the C that is open
  bool waits_in_forward_ = false;       // a call that waits for a result runs as an F
  bool library_trains_ = false;         // a U that counts is open
  bool predicts_ = false;               // the prediction that is open is an F
  bool writes_ = false;                 // the V that is open is a generation, and counts
  bool simulates_ = false;              // the thread has had an S
  const Exchange* exchange_ = nullptr;  // of messages, that is the S that is open
  uint32_t own_steps_ = 0;              // S that were none
  bool has_acted_ = false;              // and another one
  // What the J that runs interrupts, with the name of a C; kAutoStates: none runs.
  uint32_t before_compilation_ = trace::kAutoStates;
  Expects expects_ = Expects::kNothing;
  PolicyCalls policy_calls_;
  Observation observation_;  // of the last S, recorded or not
  TokenRun run_;             // of forwards since the last S, B and O
  ForwardModules modules_;
  Acting acting_;
  Evaluations evaluations_;
  TellingFunction* evaluates_ = nullptr;  // of the call that the thread is in, which may be one
  // In a thread that steps no environment. A function of that name may also ask a network, once for
  // a position of a game.
  static constexpr int kEvaluates = 8;
  int forwards_alone_ = 0;   // F in the call that the thread is in, up to so many
  ActsElsewhere elsewhere_;  // in no such call
  uint64_t trains_at_ = 0;   // where it stepped last after an update, in no such call
  bool converts_ = false;    // an observation was converted for the next F
  // These four are together, so that one store forgets them.
  bool makes_ = false;         // a W that counts is open
  bool is_unproven_ = false;   // what was converted for the next F began with a W
  bool has_output_ = false;    // an X was, since the last F: what is open goes on as a tail
  bool drawn_ = false;         // what runs as a tail is a batch that was drawn
  bool is_batch_ = false;      // for certain no action: a G gave it, or an I was since
  bool has_key_ = false;       // a random key was made for it: all from there on is a K
  bool gives_scores_ = false;  // of the last forward, where a generation was
  bool generated_ = false;     // since the last S and O
  uint64_t changes_ = 0;       // H since the operation was decided
  bool updated_ = false;       // a backward was, since the last S
  bool acts_first_ = false;    // an S came right after an update: its F was before that
  bool acted_ = false;         // an X has named F, since the last S
  bool is_given_ = false;      // the F that opened the operation: what was converted
  bool acts_given_ = false;    // such an F opened the last operation that an S named
  bool tests_ = false;         // another one did, of such a thread, right after an update
  // No F was between the last update's S and its B; before the first one, F had gradients before S.
  bool learns_as_acted_ = false;
  bool has_learned_ = false;      // a B after an S told
  bool prepares_ = false;         // so what runs since the last S, as a tail, is a B's if one comes
  bool fed_ = false;              // an update was, since the last S, or F without any S
  bool was_fed_ = false;          // one was before that
  bool has_gradients_ = false;    // of a forward since the operation opened
  bool backward_inside_ = false;  // of a forward since then

  uint32_t calls_ = 0;  // S and F so far, wherever they were
  // The greenlet that was left inside of an operation, and calls_ when a greenlet was left last.
  bool is_held_ = false;
  const PyObject* holder_ = nullptr;
  uint32_t held_calls_ = 0;

  // The owner of the records: another process image or window begins with an empty track.
  uint32_t generation_ = UINT32_MAX;
  uint32_t window_ = 0;
  // Optimizer steps of the process that the thread's last S knew of, and in which image.
  uint64_t steps_seen_ = 0;
  uint32_t steps_generation_ = UINT32_MAX;
  // Process image in which the thread had an S or an O last, recorded or not.
  uint32_t loop_generation_ = UINT32_MAX;
};

// The calling thread's. __thread: its address without asking whether it was made.
extern __thread Track own_track;

// Whose phase a window that begins is in; before the first event.
void StartTracks(ModuleState* state);

// The calling thread, which records, enters an explicit operation: no thread of this process opens
// an automatic one any more.
void EndTracks();

// Steps of optimizers and F so far, of all threads. F inside of an S or a V are none.
uint64_t CountedSteps();
uint64_t CountedForwards();

// Whether the program has opened an operation of its own.
bool IsAnnotated();

// How a forward finds out whether it has gradients; null: it has, unless a no-grad block is open.
void AskGradients(bool (*enabled)());
bool HasGradients(bool if_unknown);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOMATIC_TRACK_H_
