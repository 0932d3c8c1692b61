// Functions, methods and types of C code that convert an observation for a forward, or what that
// returned: PyTorch's as_tensor, Tensor.to, Tensor. And those that change tensors, and methods of
// Cython that draw. Their own
// vectorcall pointer is replaced; nothing that a program can look at changes, and the C function
// that recorders of native calls look for stays in place.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/runtime_module/automatic_track.h"

namespace rlscope::python {

enum class Converts {
  kObservation,  // calls with an observation as first argument are events
  kAnything,     // the others, too: makings
  kOutput,       // all calls are, of what forwards returned
  kValue,        // the same, to numbers
  kDraw,         // all calls are
  kChange,       // all calls are, of tensors
};

// Makes calls of it events. False: it is none of those, or its calls go another way. Sets no
// Python error.
bool WatchConversion(PyObject* callable, Converts converts);

// A call that has changed one tensor in place, or each one in a list. Null: who knows what.
inline void NoteChange(Track* track, PyObject* changed) {
  if (__builtin_expect(!track->MayChange(), 1)) return;
  const bool are_many = changed != nullptr && (PyList_Check(changed) || PyTuple_Check(changed));
  track->NoteChanges(are_many ? static_cast<uint64_t>(PySequence_Fast_GET_SIZE(changed)) : 1);
}

// A call that makes something of `object`.
template <class Call>
inline PyObject* CallMaking(Track* track, PyObject* object, Call call) {
  const bool is_known = track->IsOfObservation(object);
  if (!is_known && !track->MayMake()) return call();
  is_known ? track->EnterConversion(object) : track->EnterMaking();
  PyObject* result = call();
  is_known ? track->LeaveConversion(result) : track->LeaveMaking(result);
  return result;
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_
