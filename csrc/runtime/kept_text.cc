#include "runtime/kept_text.h"

#include <string.h>

#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

char* kept_chunk = nullptr;
uint64_t kept_left = 0;

}  // namespace

char* KeepText(const char* text, uint64_t length) {
  if (kept_left < length) {
    void* mapped = SysMapPrivate(kMostKeptBytes);
    if (mapped == nullptr) return nullptr;
    kept_chunk = static_cast<char*>(mapped);
    kept_left = kMostKeptBytes;
  }
  char* copy = kept_chunk;
  memcpy(copy, text, length);
  kept_chunk += length;
  kept_left -= length;
  return copy;
}

}  // namespace rlscope::runtime
