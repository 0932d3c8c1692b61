// Waits for the GIL, where the interpreter itself waits: take_gil() calls pthread_cond_timedwait(),
// for one switch interval (5 ms) at a time, and nothing else of the interpreter does.
#ifndef RLSCOPE_NATIVE_CALLS_GIL_WAITS_H_
#define RLSCOPE_NATIVE_CALLS_GIL_WAITS_H_

namespace rlscope::native_calls {

// Records how long threads wait for the GIL, from now on until UnpatchAll(). False: the interpreter
// does not wait as expected.
bool PatchGil();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_GIL_WAITS_H_
