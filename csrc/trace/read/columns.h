// Common to the decoders of chunks with columns (decoder.cc, interval_decoder.cc).
#ifndef RLSCOPE_TRACE_READ_COLUMNS_H_
#define RLSCOPE_TRACE_READ_COLUMNS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "base/wire.h"
#include "trace/layout/record.h"

namespace rlscope::trace {

inline uint32_t Low32(uint64_t value) { return static_cast<uint32_t>(value); }

// Room for `size` values; vectors only grow, so that nothing is cleared chunk after chunk.
template <typename T>
void Reserve(std::vector<T>* column, size_t size) {
  if (column->size() < size) column->resize(size);
}

// Fields 1 to 6, which chunks that come from rings have in common. False: another field.
template <typename Header>
bool SetRingField(const base::WireReader& field, Header* header) {
  switch (field.field()) {
    case 1:
      header->thread = Low32(field.value());
      return true;
    case 2:
      header->ring = Low32(field.value());
      return true;
    case 3:
      header->first_slot = field.value();
      return true;
    case 4:
      header->slots = field.value();
      return true;
    case 5:
      header->base_ticks = field.value();
      return true;
    case 6:
      header->count = Low32(field.value());
      return true;
    default:
      return false;
  }
}

// A step takes a byte at least; slots are positions, and must not wrap around; a thread's number is
// an id of its first record.
template <typename Header>
bool IsValidRingHeader(const Header& header) {
  return header.thread <= kMaxId && header.count <= header.step.size &&
         header.slots <= UINT64_MAX - header.first_slot && header.base_ticks <= header.last_ticks;
}

// Whether the base and `count` steps and as many lengths cannot add up to 2^64: then the loop over
// them need not look at each. `bits`: all of their values, or'ed.
inline bool CannotOverflow(uint64_t base, uint64_t bits, uint32_t count) {
  return base >> 63 == 0 && bits >> 40 == 0 && count >> 22 == 0;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_COLUMNS_H_
