// The names of a process: (kind, text) -> id. Private memory, so that fork children and later
// sessions keep the ids that annotation objects have cached; an image publishes all of them before
// its first record.
#ifndef RLSCOPE_RUNTIME_NAMES_H_
#define RLSCOPE_RUNTIME_NAMES_H_

#include <stdint.h>

namespace rlscope::runtime {

struct Name {
  const char* text;  // lives as long as the process
  uint32_t length;
  uint32_t hash;
  uint32_t id;
  uint16_t kind;  // trace::EntryKind
  uint16_t layer;
};

// All functions need process_lock.

// The id of a name that is known, else 0.
uint32_t FindName(uint32_t kind, const char* text, uint64_t length);

// Adds a name that FindName() did not find; null when the table is full or memory is refused.
// `length` is at most kMaxNameBytes.
const Name* AddName(uint32_t kind, uint32_t layer, const char* text, uint64_t length);

// The name "(other)" that stands for those that no longer fit; *is_new: it was made by this call.
const Name* OtherName(uint32_t kind, uint32_t layer, bool* is_new);

// Names in order of id, the "(other)" ones last; null past the end.
const Name* NameAt(uint32_t index);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_NAMES_H_
