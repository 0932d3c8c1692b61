// The arena of a process image seen from the draining side: walks the entries that the process has
// published, over all of its files, and checks each against the mapping.
#ifndef RLSCOPE_TRACE_DRAIN_ARENA_VIEW_H_
#define RLSCOPE_TRACE_DRAIN_ARENA_VIEW_H_

#include <stdint.h>

#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

class ArenaView {
 public:
  ArenaView() = default;

  // `page` holds `used` (which the producer moves) and is followed by entries from kPageSize to
  // `bytes`, the size of the mapping. Both must outlive the view.
  ArenaView(const void* page, const uint64_t* used, uint64_t bytes)
      : base_(static_cast<const char*>(page) + kPageSize),
        used_(used),
        capacity_(bytes - kPageSize) {}

  // The next published entry and its text; false when there is none, or none that can be one (then
  // the rest of this file is given up).
  bool Next(ArenaEntry* entry, const char** text);

  // Bytes that were published and cannot be entries; once all are read, also those after the last
  // entry.
  uint64_t GivenUp() const;

 private:
  uint64_t Used() const;
  uint64_t Read(uint64_t position, uint64_t end, ArenaEntry* entry) const;
  uint64_t Unpublished() const;

  const char* base_ = nullptr;
  const uint64_t* used_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t position_ = 0;
  uint64_t given_up_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_ARENA_VIEW_H_
