// Reading RLSCOPE_* from the environment. Libc only.
#ifndef RLSCOPE_BASE_ENV_H_
#define RLSCOPE_BASE_ENV_H_

#include <stdint.h>

namespace rlscope::base {

// Value of a variable; null when unset or empty.
const char* GetEnv(const char* name);

// A decimal number without sign; `otherwise` when unset, empty or not a number that fits.
uint64_t GetEnvNumber(const char* name, uint64_t otherwise);

// The same rule for any text: true and *value, or false.
bool ParseNumber(const char* text, uint64_t* value);

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_ENV_H_
