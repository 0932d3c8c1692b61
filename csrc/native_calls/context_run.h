// contextvars.Context.run, through which asyncio runs every step of a task: where a thread begins
// and ends to run one (docs/reference/semantics.md#asyncio).
#ifndef RLSCOPE_NATIVE_CALLS_CONTEXT_RUN_H_
#define RLSCOPE_NATIVE_CALLS_CONTEXT_RUN_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::native_calls {

struct ContextHooks {
  void (*entering)(PyObject* context);  // the thread is about to run in this Context
  void (*left)();                       // it runs in the one before again; an exception may pend
};

// From now on, reports every Context.run in the main interpreter. UnpatchAll() ends it. False
// where contextvars is not as expected.
bool FollowContexts(const ContextHooks& hooks);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CONTEXT_RUN_H_
