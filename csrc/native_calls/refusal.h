// Where patching is not tried.
#ifndef RLSCOPE_NATIVE_CALLS_REFUSAL_H_
#define RLSCOPE_NATIVE_CALLS_REFUSAL_H_

namespace rlscope::native_calls {

// Null where patching can work; else one sentence that says why it is refused here: another
// interpreter than CPython, a sub-interpreter, a kernel that keeps read-only pages read-only.
const char* Refusal();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_REFUSAL_H_
