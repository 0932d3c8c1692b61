#include "core/functions.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simcuda {

const ApiFunction& FindFunction(const char* name) {
  const ApiFunction* end = kFunctions + kFunctionCount;
  const ApiFunction* found =
      std::lower_bound(kFunctions, end, name, [](const ApiFunction& function, const char* wanted) {
        return strcmp(function.name, wanted) < 0;
      });
  if (found == end || strcmp(found->name, name) != 0) {
    fprintf(stderr, "simcuda: %s is not listed in facts/\n", name);
    abort();
  }
  return *found;
}

}  // namespace simcuda
