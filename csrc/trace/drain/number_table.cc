#include "trace/drain/number_table.h"

#include <stdlib.h>

namespace rlscope::trace {
namespace {

// The finaliser of MurmurHash3.
uint64_t Mix(uint64_t bits) {
  bits ^= bits >> 33;
  bits *= 0xff51afd7ed558ccd;
  bits ^= bits >> 33;
  bits *= 0xc4ceb9fe1a85ec53;
  return bits ^ bits >> 33;
}

}  // namespace

NumberTable::~NumberTable() { free(slots_); }

NumberTable::Slot* NumberTable::SlotOf(const Key& key) const {
  const uint64_t hash = Mix(key.first ^ Mix(uint64_t{key.second} << 32 | key.third));
  for (uint64_t at = hash;; ++at) {
    Slot* const slot = &slots_[at & (capacity_ - 1)];
    if (slot->is_used == 0) return slot;
    const bool same = slot->key.first == key.first && slot->key.second == key.second;
    if (same && slot->key.third == key.third) return slot;
  }
}

bool NumberTable::Grow() {
  Slot* const old = slots_;
  const uint32_t old_capacity = capacity_;
  const uint32_t larger = capacity_ == 0 ? 256 : capacity_ * 2;
  void* const memory = calloc(larger, sizeof(Slot));
  if (memory == nullptr) return false;
  slots_ = static_cast<Slot*>(memory);
  capacity_ = larger;
  for (uint32_t i = 0; i < old_capacity; i++) {
    if (old[i].is_used != 0) *SlotOf(old[i].key) = old[i];
  }
  free(old);
  return true;
}

uint32_t* NumberTable::Find(const Key& key) {
  if (count_ >= capacity_ / 2 && !Grow()) return nullptr;
  Slot* const slot = SlotOf(key);
  if (slot->is_used == 0) {
    *slot = {key, 0, 1};
    count_++;
  }
  return &slot->number;
}

}  // namespace rlscope::trace
