// Copies of texts that live as long as the process. Private memory, which fork children inherit.
#ifndef RLSCOPE_RUNTIME_KEPT_TEXT_H_
#define RLSCOPE_RUNTIME_KEPT_TEXT_H_

#include <stdint.h>

namespace rlscope::runtime {

constexpr uint64_t kMostKeptBytes = 1 << 16;  // of one text

// Null: there is no memory. Needs process_lock.
char* KeepText(const char* text, uint64_t length);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_KEPT_TEXT_H_
