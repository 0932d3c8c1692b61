// Keeping text valid UTF-8: protobuf's `string` fields must be, and parsers of other languages
// refuse a whole message for one bad byte. Command lines and thread names may hold any byte.
#ifndef RLSCOPE_BASE_UTF8_H_
#define RLSCOPE_BASE_UTF8_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::base {

// Replaces every byte that is not part of a well-formed sequence (overlong forms, surrogates and
// numbers above U+10FFFF are not) by '?'. The length stays.
void ReplaceInvalidUtf8(uint8_t* text, size_t size);

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_UTF8_H_
