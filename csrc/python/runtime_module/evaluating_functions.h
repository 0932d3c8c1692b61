// Python functions that evaluate an agent, by their names and by what happens in their calls: they
// step an environment, and nothing is learned. Everything here needs the GIL.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATING_FUNCTIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATING_FUNCTIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

class EvaluatingFunction {
 public:
  // Whether the thread is in a call of it.
  bool IsRunning() const;
  // It learns.
  void Reject() { is_rejected_ = true; }

 private:
  friend EvaluatingFunction* FindEvaluatingFunction();

  PyObject* code_ = nullptr;  // a strong reference for ever
  bool is_rejected_ = false;
};

// That of the outermost call that the thread is in. Null: it is in none, or there are too many.
EvaluatingFunction* FindEvaluatingFunction();

// Tells where the thread is from where else it steps an environment.
uint64_t PlaceOfThread();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_EVALUATING_FUNCTIONS_H_
