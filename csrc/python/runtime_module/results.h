// Which compiled function made an array. JAX computes while the program goes on: what waits for an
// array waits for its function.
//
// Arrays are referred to weakly: they live and die as they do without us, and a new one at the
// address of one that died is none of them.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_RESULTS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_RESULTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

// A function, known by the id of its operation's name, returned `result` to the calling thread;
// null: it raised. Id 0: the function has no name. Sets no Python error.
void NoteResult(PyObject* result, uint32_t name);

// Of the function that made the array, or the first known one of a list; else of the function that
// the thread called last, as JAX computes in order. 0: it called none. Sets no Python error.
uint32_t NameOfMaker(PyObject* arrays);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_RESULTS_H_
