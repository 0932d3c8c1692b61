// Native code that calls into Python: hooks on the interpreter's functions through which it does,
// in the import tables of watched libraries. Inside of them the thread is in Python again.
#ifndef RLSCOPE_NATIVE_CALLS_CALLBACKS_H_
#define RLSCOPE_NATIVE_CALLS_CALLBACKS_H_

#include <vector>

#include "native_calls/imported_functions.h"

namespace rlscope::native_calls {

// For HookImports(). Needs the GIL, once: it looks at a Python class of its own to learn which
// slots of a type mean Python code.
const std::vector<ImportHook>& CallbackHooks();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CALLBACKS_H_
