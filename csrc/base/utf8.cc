#include "base/utf8.h"

namespace rlscope::base {
namespace {

bool IsContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// Length of the well-formed sequence at text[0], 0 when there is none (Unicode, table 3-7).
size_t SequenceLength(const uint8_t* text, size_t size) {
  const uint8_t lead = text[0];
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || size < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const bool overlong = (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xf0 && text[1] < 0x90);
  const bool surrogate = lead == 0xed && text[1] > 0x9f;
  const bool too_large = lead == 0xf4 && text[1] > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

void ReplaceInvalidUtf8(uint8_t* text, size_t size) {
  for (size_t i = 0; i < size;) {
    const size_t length = SequenceLength(text + i, size - i);
    if (length == 0) text[i] = '?';
    i += length == 0 ? 1 : length;
  }
}

}  // namespace rlscope::base
