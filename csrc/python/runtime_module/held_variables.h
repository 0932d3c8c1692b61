// Whether what a program converts for its next step was there when its no-grad block ended: a
// variable has held it since. Which variables a function or a script converts is learned from its
// first conversions, so that a block's end looks at those only.
//
//   with torch.no_grad():
//       action, value = agent(obs)     at the end of the block `action` holds A
//   values[step] = value
//   env.step(action.numpy())           converts A, which `action` still holds: it was ready before
//
// Addresses of objects are compared and never dereferenced, as they may have died since.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_HELD_VARIABLES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_HELD_VARIABLES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

class HeldVariables {
 public:
  // A no-grad block ends in what runs. Neither method sets a Python error.
  void EndBlock();
  // The object is converted in what runs. True if a variable has held it since the last EndBlock().
  bool Hold(const PyObject* object);

 private:
  struct Variable {
    Py_ssize_t place;
    const PyObject* name;  // in a script; null in a function
    const PyObject* held;  // at the end of the block; null: nothing
  };
  static constexpr int kMostVariables = 4;
  static constexpr int kMostSearches = 64;  // of one function

  void Learn(const PyObject* object);

  const void* code_ = nullptr;   // whose variables these are
  const void* frame_ = nullptr;  // in which the block ended
  int count_ = 0;
  int searches_ = 0;
  Variable variables_[kMostVariables] = {};
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_HELD_VARIABLES_H_
