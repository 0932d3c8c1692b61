// The generated table of API functions: facts/*_functions.txt as C++.
#ifndef SIMCUDA_CORE_FUNCTIONS_H_
#define SIMCUDA_CORE_FUNCTIONS_H_

#include "core/interface.h"

namespace simcuda {

extern const ApiFunction kFunctions[];  // sorted by name
extern const size_t kFunctionCount;

// The function called `name`; aborts on a name that the facts do not list: that is a misspelt
// definition.
const ApiFunction& FindFunction(const char* name);

// A listed function that is not implemented: a call in the truth file, and status 801.
int Unsupported(const char* name);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_FUNCTIONS_H_
