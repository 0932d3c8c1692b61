// Python inside native code: for the hooks through which a watched library calls back.
#ifndef RLSCOPE_NATIVE_CALLS_CALLBACK_SCOPE_H_
#define RLSCOPE_NATIVE_CALLS_CALLBACK_SCOPE_H_

#include "runtime/rlscope.h"

namespace rlscope::native_calls {

// From construction to destruction the thread is in Python again: what it calls there is recorded
// again. Costs one load when no recorded call is open.
//
//   PyObject* HookedCall(PyObject* callable, PyObject* arguments, PyObject* keywords) {
//     CallbackScope scope(EntersFromOutside());
//     return PyObject_Call(callable, arguments, keywords);
//   }
class CallbackScope {
 public:
  // `from_outside`: no Python frame is below, as in a thread of the library's own that enters the
  // interpreter; its time outside of callbacks has no owner, so the callback counts without a call.
  explicit CallbackScope(bool from_outside = false)
      : began_(rlscope_self.call != 0 || from_outside) {
    if (__builtin_expect(began_, 0)) rlscope_begin_callback(&callback_);
  }
  ~CallbackScope() {
    if (__builtin_expect(began_, 0)) rlscope_end_callback(&callback_);
  }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  const bool began_;
  rlscope_callback callback_;
};

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CALLBACK_SCOPE_H_
