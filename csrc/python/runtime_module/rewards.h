// Whether the first steps of a process returned one reward, all of one environment, or one for each
// of several. Everything here needs the GIL.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_REWARDS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_REWARDS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

extern int rewards_left;  // so many steps still tell
void AddReward(const PyObject* environment, PyObject* result);

// An outermost step, or reset, of this environment has returned this; null: it raised.
inline void NoteReward(const PyObject* environment, PyObject* result) {
  if (__builtin_expect(rewards_left > 0, 0)) AddReward(environment, result);
}

// Whether a draw gave more than one action, for a process that steps one environment.
bool IsBatch(PyObject* drawn);

// returned_rewards() -> (steps with one, steps with several).
PyObject* ReturnedRewards(PyObject*, PyObject*);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_REWARDS_H_
