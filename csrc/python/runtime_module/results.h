// Which compiled function made an array. JAX computes while the program goes on: what waits for an
// array waits for its function.
//
// Arrays are referred to weakly: they live and die as they do without us, and a new one at the
// address of one that died is none of them.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_RESULTS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_RESULTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "python/runtime_module/compiled_table.h"
#include "python/runtime_module/token_run.h"

namespace rlscope::python {

// A function returned `result` to the calling thread; null: it raised. Sets no Python error.
void NoteResult(PyObject* result, const CompiledSlot* maker);

// Whether all that a call is given are arrays that `maker` returned itself, as far as they are
// known, and at least one. Sets no Python error.
bool IsGivenOwnResults(const Arguments& call, const CompiledSlot* maker);

// The function that made the array, or the first known one of a list; else the one that the thread
// called last, as JAX computes in order. Null: it called none. Sets no Python error.
const CompiledSlot* MakerOf(PyObject* arrays);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_RESULTS_H_
