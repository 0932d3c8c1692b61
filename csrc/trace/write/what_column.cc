#include "trace/write/what_column.h"

#include <string.h>

#include "base/wire.h"

namespace rlscope::trace {
namespace {

using base::PutVarint;

constexpr uint32_t kOneByte = 128;  // indexes below take one byte

}  // namespace

void WhatColumn::Begin() {
  count_ = dictionary_count_ = 0;
  last_entry_ = UINT32_MAX;
  ++epoch_;
  what_end_ = what_;
  dictionary_end_ = dictionary_;
  guessed_size_ = 0;
}

void WhatColumn::Add(uint32_t entry) {
  if (entry != last_entry_) {
    last_entry_ = entry;
    last_index_ = FindOrAdd(entry);
  }
  index_[count_++] = static_cast<uint16_t>(last_index_);
}

// Index of `entry` in the chunk's dictionary, in order of first use.
uint32_t WhatColumn::FindOrAdd(uint32_t entry) {
  uint32_t at = (entry * 0x9e3779b1u) >> (32 - kHashBits);
  while (hash_[at].epoch == epoch_) {
    if (hash_[at].entry == entry) return hash_[at].index;
    at = (at + 1) & (kHashSlots - 1);
  }
  hash_[at] = {epoch_, entry, dictionary_count_};
  dictionary_end_ = PutVarint(dictionary_end_, entry);
  return dictionary_count_++;
}

// Guessing costs the reader some 3 ns an item, so it must save a quarter of the column.
void WhatColumn::Pack() {
  PackUnguessed();
  const size_t guessed = what().size + guessed_size_;
  if (4 * guessed > 3 * PlainSize()) PackAll();
}

void WhatColumn::PackAll() {
  guessed_size_ = 0;
  what_end_ = what_;
  for (uint32_t i = 0; i < count_; ++i) what_end_ = PutVarint(what_end_, index_[i]);
}

void WhatColumn::PackUnguessed() {
  prediction_.Reset();
  guessed_size_ = (count_ + 7) / 8;
  memset(guessed_, 0, guessed_size_);
  what_end_ = what_;
  for (uint32_t i = 0; i < count_; ++i) {
    const uint32_t index = index_[i];
    const bool guessed = prediction_.Guess() == index;
    prediction_.Learn(index);
    guessed_[i / 8] = static_cast<uint8_t>(guessed_[i / 8] | guessed << i % 8);
    if (!guessed) what_end_ = PutVarint(what_end_, index);
  }
}

size_t WhatColumn::PlainSize() const {
  size_t size = count_;
  for (uint32_t i = 0; i < count_; ++i) size += index_[i] >= kOneByte;
  return size;
}

}  // namespace rlscope::trace
