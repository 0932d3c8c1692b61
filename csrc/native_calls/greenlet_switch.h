// Switches of greenlets (the package greenlet, below gevent and eventlet): which greenlet a thread
// runs (docs/reference/semantics.md#greenlets).
#ifndef RLSCOPE_NATIVE_CALLS_GREENLET_SWITCH_H_
#define RLSCOPE_NATIVE_CALLS_GREENLET_SWITCH_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::native_calls {

struct GreenletHooks {
  void (*entering)(PyObject* greenlet);  // the thread is about to run it
  void (*left)();                        // the one before runs again; an exception may pend
};

// The greenlet that runs, borrowed; null: the thread's own, or no greenlets are followed.
PyObject* CurrentGreenlet();

// From now on CurrentGreenlet() answers, and the hooks are told of every switch and throw, of
// Python code and of C code. `module` is greenlet._greenlet. UnpatchAll() ends what tells the
// hooks. False where the package is not as expected, or switches cannot be told.
bool FollowGreenlets(PyObject* module, const GreenletHooks& hooks);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_GREENLET_SWITCH_H_
