// The functions that a library imports, as its own table of addresses (GOT) holds them: where its
// calls into the interpreter can be seen.
#ifndef RLSCOPE_NATIVE_CALLS_IMPORTED_FUNCTIONS_H_
#define RLSCOPE_NATIVE_CALLS_IMPORTED_FUNCTIONS_H_

#include <stddef.h>

#include <vector>

#include "native_calls/watched_code.h"

namespace rlscope::native_calls {

struct ImportHook {
  const char* name;  // of the imported function
  void* function;    // what the library calls from now on
};

// Puts the hooks into the library's table; pages that the loader made read-only are opened for it.
// UnpatchAll() takes them out. Returns how many it imports.
size_t HookImports(const WatchedRange& library, const std::vector<ImportHook>& hooks);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_IMPORTED_FUNCTIONS_H_
