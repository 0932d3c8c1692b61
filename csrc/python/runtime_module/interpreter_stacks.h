// Tells the drainer, and those who look for call sites (call_sites.h), where the interpreter keeps
// the stacks of its threads.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_INTERPRETER_STACKS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_INTERPRETER_STACKS_H_

namespace rlscope::python {

// Not if the thread's own stack, read in that way, is not the one that it has: the interpreter is
// then another than the module was compiled for. Needs the GIL.
void DescribeInterpreter();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_INTERPRETER_STACKS_H_
