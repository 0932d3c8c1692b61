// Which environment a thread learns from. A stretch of steps in another one is an evaluation if the
// thread goes back to the first one, and no update lies between.
//
//   environment   T  T  T     T  T  T     X  X  X  T  T  T     Y  Y  Y     Y  Y  Y
//   update               B           B                    B           B           B
//                                         |-----|              no evaluation: it feeds an update
//
// A stretch of steps in a function that evaluates (evaluating_functions.h) is one in any
// environment, from wherever the thread learns. The track says when it begins and ends.
//
// Only addresses are kept: the program's objects live and die as they do without us. Nothing here
// is dereferenced.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATIONS_H_

#include <stdint.h>

#include "trace/layout/record.h"

namespace rlscope::python {

// Each method says what a resolve has to say of a stretch.
class Evaluations {
 public:
  // Whether a step of this environment says nothing: it follows one of the same.
  bool IsUsual(const void* environment) const { return environment == usual_; }
  // Whether the thread stepped another one last.
  bool IsOther(const void* environment) const { return last_ != nullptr && last_ != environment; }
  // A step that may say something. `forwards`: how many the thread has called so far.
  trace::AutoStretch Step(const void* environment, uint64_t forwards);
  // An update: the first part of one since the last step.
  trace::AutoStretch Update();
  // A step in a function that may evaluate: from here on all steps belong to the stretch.
  // `is_sure`: that it is one needs nothing more. `environment`: null if forwards are its steps.
  trace::AutoStretch BeginCall(const void* environment, bool is_sure);
  bool is_sure() const { return is_sure_; }
  // The call has ended, or the thread has learned in it.
  trace::AutoStretch EndCall(bool evaluates);
  // The process ends.
  trace::AutoStretch End() { return is_in_call_ ? EndCall(is_sure_) : Decide(); }
  // What was is not known any more. Whether anything was.
  bool Forget() {
    if (__builtin_expect(!is_used_, 1)) return false;
    *this = Evaluations();
    return true;
  }

 private:
  // So many updates in a row were fed by one environment, and one of them by that one alone.
  static constexpr int kEnough = 4;
  static constexpr int kMostLearned = 8;
  // Whoever reads the trace holds a stretch in memory until it is decided.
  static constexpr int kMostSteps = 1 << 16;

  trace::AutoStretch GoOn(uint64_t forwards);
  trace::AutoStretch Begin();
  trace::AutoStretch Decide();
  void Learn();
  bool HasLearned(const void* environment) const;

  const void* usual_ = nullptr;             // the last one; null where a stretch is undecided
  const void* last_ = nullptr;              // the last one
  const void* trainer_ = nullptr;           // the last one that an update followed
  const void* learned_[kMostLearned] = {};  // all of those
  int learned_count_ = 0;
  int fed_ = 0;             // updates in a row that trainer_ fed
  bool was_alone_ = false;  // no other one was stepped before one of these
  bool is_shared_ = false;  // another one was stepped since the last update
  // The stretch:
  bool is_undecided_ = false;
  bool was_long_ = false;  // what goes on is another one
  bool acts_ = false;      // a forward lies between its steps
  uint64_t forwards_ = 0;  // when it began
  int steps_ = 0;
  bool is_in_call_ = false;        // it is one of a function
  const void* of_call_ = nullptr;  // whose environment
  bool is_sure_ = false;
  bool is_used_ = false;  // a step was noted
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATIONS_H_
