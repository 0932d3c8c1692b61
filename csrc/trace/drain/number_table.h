// A hash table from three numbers to one, which only grows. Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_NUMBER_TABLE_H_
#define RLSCOPE_TRACE_DRAIN_NUMBER_TABLE_H_

#include <stdint.h>

namespace rlscope::trace {

class NumberTable {
 public:
  struct Key {
    uint64_t first;
    uint32_t second, third;
  };

  NumberTable() = default;
  ~NumberTable();
  NumberTable(const NumberTable&) = delete;
  NumberTable& operator=(const NumberTable&) = delete;

  // The place of the key's number, 0 where it is new. Null: there is no memory for it. The place is
  // good until the next call.
  uint32_t* Find(const Key& key);

 private:
  struct Slot {
    Key key;
    uint32_t number;
    uint32_t is_used;
  };
  bool Grow();
  Slot* SlotOf(const Key& key) const;

  Slot* slots_ = nullptr;
  uint32_t count_ = 0, capacity_ = 0;  // capacity: a power of two
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_NUMBER_TABLE_H_
