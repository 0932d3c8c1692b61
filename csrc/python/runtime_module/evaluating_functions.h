// Python functions that evaluate an agent, by their names and by what happens in their calls: they
// step an environment, and nothing is learned. Everything here needs the GIL.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATING_FUNCTIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATING_FUNCTIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "python/runtime_module/telling_functions.h"

namespace rlscope::python {

// That of the outermost call that the thread is in. Null: it is in none, or there are too many.
TellingFunction* FindEvaluatingFunction();

// Whether a thread acts, or writes texts, in no such call.
class ActsElsewhere {
 public:
  // A forward begins. `is_inside`: for certain, it is in such a call.
  void Look(bool is_inside) {
    is_elsewhere_ = !is_inside && !is_proven_ && looks_ > 0 && IsElsewhere();
  }
  // That forward acted, or it wrote a text.
  void Act() { is_proven_ |= is_elsewhere_; }
  bool is_proven() const { return is_proven_; }

 private:
  bool IsElsewhere();

  bool is_elsewhere_ = false;
  bool is_proven_ = false;
  uint16_t looks_ = 4096;  // that are left: each takes as long as the thread has frames
};

// Tells where the thread is from where else it steps an environment.
uint64_t PlaceOfThread();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATING_FUNCTIONS_H_
