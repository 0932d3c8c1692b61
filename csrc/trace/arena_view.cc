#include "trace/arena_view.h"

#include <string.h>

namespace rlscope::trace {

bool ArenaView::Next(ArenaEntry* entry, const char** text) {
  if (used_ == nullptr) return false;
  uint64_t used = __atomic_load_n(used_, __ATOMIC_ACQUIRE);
  if (used > capacity_) used = capacity_;
  if (used < position_ + sizeof(ArenaEntry)) return false;
  memcpy(entry, base_ + position_, sizeof *entry);
  const uint64_t padded = (static_cast<uint64_t>(entry->length) + 7) & ~UINT64_C(7);
  if (padded > used - position_ - sizeof(ArenaEntry)) {
    position_ = capacity_;
    return false;
  }
  *text = base_ + position_ + sizeof(ArenaEntry);
  position_ += sizeof(ArenaEntry) + padded;
  return true;
}

}  // namespace rlscope::trace
