#include "base/env.h"

#include <stdlib.h>

namespace rlscope::base {

const char* GetEnv(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool ParseNumber(const char* text, uint64_t* value) {
  if (text == nullptr || *text == '\0') return false;
  uint64_t number = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return false;
    if (__builtin_mul_overflow(number, UINT64_C(10), &number) ||
        __builtin_add_overflow(number, static_cast<uint64_t>(*text - '0'), &number)) {
      return false;
    }
  }
  *value = number;
  return true;
}

uint64_t GetEnvNumber(const char* name, uint64_t otherwise) {
  uint64_t value;
  return ParseNumber(GetEnv(name), &value) ? value : otherwise;
}

}  // namespace rlscope::base
