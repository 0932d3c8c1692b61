// The stacks of Python in which the process makes CUDA calls
// (docs/reference/semantics.md#gpu-time-of-a-line).
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_CALL_SITES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_CALL_SITES_H_

#include <stdint.h>

#include "trace/layout/interpreter_layout.h"

namespace rlscope::python {

// From now on CUDA calls have the stacks of their threads. `layout` is right for this interpreter.
void FindCallSites(const rlscope_interpreter_layout& layout);

// Returns when no thread looks at a frame any more: the interpreter is about to end.
void LeaveCallSites();

// The calling thread lends its stack to threads without any Python, as those of PyTorch that work
// for a backward. Nothing is lent while several threads do. Loans of one thread nest. Both need the
// GIL.
void LendCallSite();
void EndLending();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_CALL_SITES_H_
