// The functions that a library imports, as its own table of addresses (GOT) holds them: where its
// calls into the interpreter can be seen.
#ifndef RLSCOPE_INTERCEPTION_IMPORTED_FUNCTIONS_H_
#define RLSCOPE_INTERCEPTION_IMPORTED_FUNCTIONS_H_

#include <stddef.h>

#include <vector>

#include "interception/watched_code.h"

namespace rlscope::interception {

struct ImportHook {
  const char* name;  // of the imported function
  void* function;    // what the library calls from now on
};

// Puts the hooks into the library's table; pages that the loader made read-only are opened for it.
// UnpatchAll() takes them out. Returns how many it imports.
size_t HookImports(const WatchedRange& library, const std::vector<ImportHook>& hooks);

}  // namespace rlscope::interception

#endif  // RLSCOPE_INTERCEPTION_IMPORTED_FUNCTIONS_H_
