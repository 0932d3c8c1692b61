// Texts of the interpreter as UTF-8. Threads: any. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_CHARACTERS_H_
#define RLSCOPE_TRACE_DRAIN_CHARACTERS_H_

#include <stdint.h>
#include <string.h>

#include "trace/drain/growing_array.h"

namespace rlscope::trace {

// Adds characters of 1, 2 or 4 bytes. A lone surrogate becomes what no UTF-8 has. False: there is
// no memory.
inline bool AddCharacters(const uint8_t* data, uint64_t count, uint32_t width,
                          GrowingArray<char>* text) {
  for (uint64_t i = 0; i < count; i++) {
    uint32_t character = 0;
    memcpy(&character, data + i * width, width);
    char bytes[4];
    uint32_t length = 0;
    if (character < 0x80) {
      bytes[length++] = static_cast<char>(character);
    } else {
      const uint32_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
      const uint32_t mark = more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0;
      bytes[length++] = static_cast<char>(mark | (character >> (6 * more) & 0x3f));
      for (uint32_t left = more; left > 0; left--) {
        bytes[length++] = static_cast<char>(0x80 | (character >> (6 * (left - 1)) & 0x3f));
      }
    }
    if (!text->Add(bytes, length)) return false;
  }
  return true;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_CHARACTERS_H_
