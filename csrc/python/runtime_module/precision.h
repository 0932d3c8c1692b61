// Whether the first forwards of a process are given tensors of double precision. Everything here
// needs the GIL.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_PRECISION_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_PRECISION_H_

#include "python/runtime_module/token_run.h"

namespace rlscope::python {

extern int precisions_left;  // so many forwards still tell
void AddPrecision(const Arguments& call);

// An outermost forward begins: __call__(module, ...).
inline void NotePrecision(const Arguments& call) {
  if (__builtin_expect(precisions_left > 0, 0)) AddPrecision(call);
}

// given_precisions() -> (forwards in double precision, others).
PyObject* GivenPrecisions(PyObject*, PyObject*);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_PRECISION_H_
