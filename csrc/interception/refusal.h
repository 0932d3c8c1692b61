// Where patching is not tried.
#ifndef RLSCOPE_INTERCEPTION_REFUSAL_H_
#define RLSCOPE_INTERCEPTION_REFUSAL_H_

namespace rlscope::interception {

// Null where patching can work; else one sentence that says why it is refused here: another
// interpreter than CPython, a sub-interpreter, a kernel that keeps read-only pages read-only.
const char* Refusal();

}  // namespace rlscope::interception

#endif  // RLSCOPE_INTERCEPTION_REFUSAL_H_
