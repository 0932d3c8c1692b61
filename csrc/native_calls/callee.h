// The function behind a pointer, as the trace names it.
#ifndef RLSCOPE_NATIVE_CALLS_CALLEE_H_
#define RLSCOPE_NATIVE_CALLS_CALLEE_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::native_calls {

// The text is copied. It enters the process's table of names at the first call that is recorded: of
// torch's 16,000 functions a program calls some hundred.
struct Callee {
  const char* name;  // "module:function", UTF-8
  size_t length;
  uint32_t layer;  // trace::Layer
};

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CALLEE_H_
