// The kinds and names of the items of a CpuChunk: columns `what`, `guessed` and `dictionary`
// (trace.proto). Fixed size, libc only.
#ifndef RLSCOPE_TRACE_WRITE_WHAT_COLUMN_H_
#define RLSCOPE_TRACE_WRITE_WHAT_COLUMN_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/format/prediction.h"

namespace rlscope::trace {

class WhatColumn {
 public:
  static constexpr uint32_t kCapacity = 4096;  // items

  struct Bytes {
    const uint8_t* data;
    size_t size;
  };

  // Forgets what was added.
  void Begin();
  // The next item; `entry` is id << 5 | kind. At most kCapacity times.
  void Add(uint32_t entry);

  // Encodes what was added, after which the columns are valid until Begin.
  void Pack();
  Bytes what() const { return {what_, static_cast<size_t>(what_end_ - what_)}; }
  Bytes guessed() const { return {guessed_, guessed_size_}; }
  Bytes dictionary() const {
    return {dictionary_, static_cast<size_t>(dictionary_end_ - dictionary_)};
  }

 private:
  static constexpr uint32_t kHashBits = 13;  // at most half full
  static constexpr uint32_t kHashSlots = 1u << kHashBits;
  static_assert(kHashSlots == 2 * kCapacity);
  struct HashSlot {
    uint32_t epoch;  // of the chunk that wrote it; others count as empty
    uint32_t entry;
    uint32_t index;
  };

  uint32_t FindOrAdd(uint32_t entry);
  void PackAll();
  void PackUnguessed();
  size_t PlainSize() const;

  uint32_t count_ = 0;
  uint32_t dictionary_count_ = 0;
  uint32_t epoch_ = 0;
  uint32_t last_entry_ = 0;  // most items repeat the one before, or one of very few
  uint32_t last_index_ = 0;
  uint16_t index_[kCapacity];
  HashSlot hash_[kHashSlots] = {};

  Prediction prediction_;
  uint8_t* what_end_ = nullptr;
  uint8_t* dictionary_end_ = nullptr;
  size_t guessed_size_ = 0;
  uint8_t what_[kCapacity * 2];
  uint8_t dictionary_[kCapacity * 5];
  uint8_t guessed_[kCapacity / 8];
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_WHAT_COLUMN_H_
