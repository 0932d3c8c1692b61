// Iterations of the program, and the function that is told of them: iteration, follow_iterations,
// hold. Contract: rlscope/_runtime.pyi.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_ITERATIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_ITERATIONS_H_

#include "python/runtime_module/module_state.h"

namespace rlscope::python {

// An iteration of this process was counted: calls the function of follow_iterations(). False: with
// an exception set, which may be that of a signal handler of the program.
bool TellIteration();

// An iteration began after the last one that was wanted: sets SystemExit, here and in the main
// thread, or why that failed.
void EndProgram();

// Adds the functions to the module: 0, or -1 with a Python error set.
int AddIterations(PyObject* module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_ITERATIONS_H_
