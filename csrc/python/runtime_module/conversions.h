// Functions, methods and types of C code that convert an observation for a forward, or what that
// returned: PyTorch's as_tensor, Tensor.to, Tensor. And those that change tensors, and methods of
// Cython that draw. Their own vectorcall pointer is replaced; nothing that a program can look at
// changes, and the C function that recorders of native calls look for stays in place.
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

// A call that has changed a tensor in place, or as many as there are in the list that is its first
// or second argument.
inline void NoteChange(Track* track, PyObject* const* arguments, size_t flagged_count) {
  if (__builtin_expect(!track->MayChange(), 1)) return;
  const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
  uint64_t changes = 1;
  for (Py_ssize_t i = 0; i < count && i < 2; i++) {
    PyObject* given = arguments[i];
    if (!PyList_Check(given) && !PyTuple_Check(given)) continue;
    changes = static_cast<uint64_t>(PySequence_Fast_GET_SIZE(given));
    break;
  }
  track->NoteChanges(changes);
}

// A call that converts `object`, if that is an observation.
template <class Call>
inline PyObject* CallConversion(Track* track, PyObject* object, Call call) {
  if (__builtin_expect(!track->IsOfObservation(object), 1)) {
    const bool is_made = track->IsMade(object);
    PyObject* result = call();
    if (is_made) track->NoteMade(result);
    return result;
  }
  track->EnterConversion(object);
  PyObject* result = call();
  track->LeaveConversion(result);
  return result;
}

// A call that makes something of `object`.
template <class Call>
inline PyObject* CallMaking(Track* track, PyObject* object, Call call) {
  const bool is_known = track->IsOfObservation(object);
  if (!is_known && !track->MayMake()) {
    PyObject* result = call();
    track->NoteMade(result);
    return result;
  }
  is_known ? track->EnterConversion(object) : track->EnterMaking();
  PyObject* result = call();
  is_known ? track->LeaveConversion(result) : track->LeaveMaking(result);
  return result;
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_CONVERSIONS_H_
