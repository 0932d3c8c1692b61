// A hash table of plain rows that may grow past memory (spill_vector.h): open addressing, a power
// of two of slots, at most half of them used. A row has a member `uint64_t key`, 0 when free.
#ifndef RLSCOPE_ANALYSIS_SPILL_SPILL_TABLE_H_
#define RLSCOPE_ANALYSIS_SPILL_SPILL_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include <utility>

#include "analysis/spill/spill_vector.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

template <class Row>
class SpillTable {
 public:
  SpillTable() { slots_.AppendZeros(kFirstSlots); }

  // The row of this key (not 0), made of zeros if it is new. Valid until the next call.
  Row* FindOrAdd(uint64_t key) {
    if (slots_[last_].key != key) last_ = FindOrAddSlot(key);
    return &slots_[last_];
  }

  // The row of this key, one of zeros if there is none.
  Row Get(uint64_t key) const { return slots_[Find(key)]; }

  size_t size() const { return size_; }
  // Slots in no order, free ones (key 0) included.
  const SpillVector<Row>& slots() const { return slots_; }

 private:
  static constexpr size_t kFirstSlots = 512;

  size_t FindOrAddSlot(uint64_t key) {
    size_t at = Find(key);
    if (slots_[at].key == key) return at;
    if (2 * (size_ + 1) > slots_.size()) {
      Grow();
      at = Find(key);
    }
    ++size_;
    slots_[at].key = key;
    return at;
  }

  size_t Find(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = key * 0x9e3779b97f4a7c15u >> 32 & mask;  // Fibonacci hashing
    while (slots_[at].key != key && slots_[at].key != 0) at = (at + 1) & mask;
    return at;
  }

  void Grow() {
    SpillVector<Row> old;
    old.AppendZeros(2 * slots_.size());
    std::swap(old, slots_);
    for (const Row& row : old) {
      if (row.key != 0) slots_[Find(row.key)] = row;
    }
  }

  SpillVector<Row> slots_;
  size_t size_ = 0;
  size_t last_ = 0;  // slot of the last call: the same row is often asked for again
};

// carry(row), for each row of a table, carries it and returns what it is.
template <class Row, class CarryOne>
void CarryTable(trace::Archive* archive, SpillTable<Row>* table, CarryOne carry) {
  size_t count = archive->Count(table->size());
  if (!archive->reads()) {
    for (const Row& row : table->slots()) {
      if (row.key != 0) carry(row);
    }
  }
  for (; archive->reads() && archive->ok() && count > 0; --count) {
    const Row row = carry(Row());
    *table->FindOrAdd(row.key) = row;
  }
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SPILL_SPILL_TABLE_H_
