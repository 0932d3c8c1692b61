#include "trace/drain/arena_view.h"

#include <string.h>

namespace rlscope::trace {

// As far as there can be entries.
uint64_t ArenaView::Used() const {
  const uint64_t used = used_ == nullptr ? 0 : __atomic_load_n(used_, __ATOMIC_ACQUIRE);
  return used < capacity_ ? used : capacity_;
}

// The entry at `position`, and how many bytes it takes. 0: none that ends before `end`.
uint64_t ArenaView::Read(uint64_t position, uint64_t end, ArenaEntry* entry) const {
  if (end < position + sizeof *entry) return 0;
  memcpy(entry, base_ + position, sizeof *entry);
  const uint64_t bytes =
      sizeof *entry + ((static_cast<uint64_t>(entry->length) + 7) & ~UINT64_C(7));
  return bytes <= end - position ? bytes : 0;
}

// A process writes an entry and then publishes it, so at most one entry follows what is published.
uint64_t ArenaView::Unpublished() const {
  ArenaEntry entry;
  uint64_t at = position_;
  int entries = 0;
  for (uint64_t bytes; (bytes = Read(at, capacity_, &entry)) != 0 && entry.kind != 0; entries++) {
    at += bytes;
  }
  return entries > 1 ? at - position_ : 0;
}

uint64_t ArenaView::GivenUp() const {
  const uint64_t used = Used();
  return given_up_ + (used > position_ ? used - position_ : Unpublished());
}

bool ArenaView::Next(ArenaEntry* entry, const char** text) {
  const uint64_t used = Used();
  const uint64_t bytes = Read(position_, used, entry);
  if (bytes == 0) {
    if (used < position_ + sizeof *entry) return false;
    given_up_ += used - position_;
    position_ = capacity_;
    return false;
  }
  *text = base_ + position_ + sizeof *entry;
  position_ += bytes;
  return true;
}

}  // namespace rlscope::trace
