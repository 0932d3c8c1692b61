#include "runtime/kept_text.h"

#include <string.h>

#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

char* chunk = nullptr;
uint64_t left = 0;

}  // namespace

char* KeepText(const char* text, uint64_t length) {
  if (left < length) {
    void* mapped = SysMapPrivate(kMostKeptBytes);
    if (mapped == nullptr) return nullptr;
    chunk = static_cast<char*>(mapped);
    left = kMostKeptBytes;
  }
  char* copy = chunk;
  memcpy(copy, text, length);
  chunk += length;
  left -= length;
  return copy;
}

}  // namespace rlscope::runtime
