// An array of plain values that grows. Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_GROWING_ARRAY_H_
#define RLSCOPE_TRACE_DRAIN_GROWING_ARRAY_H_

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace rlscope::trace {

template <typename T>
class GrowingArray {
 public:
  GrowingArray() = default;
  ~GrowingArray() { free(values_); }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;

  uint32_t count() const { return count_; }
  T* begin() { return values_; }
  T& operator[](uint32_t index) { return values_[index]; }
  const T& operator[](uint32_t index) const { return values_[index]; }
  // Forgets all but the first `count`, which are there.
  void Truncate(uint32_t count) { count_ = count; }
  void Clear() { count_ = 0; }

  // Makes room for that many, whatever they hold. False: there is no memory.
  bool Resize(uint32_t count) {
    if (count > capacity_ && !Grow(count)) return false;
    count_ = count;
    return true;
  }

  // False: there is no memory, and nothing was added.
  bool Add(const T* values, uint32_t count) {
    if (count_ + count > capacity_ && !Grow(count_ + count)) return false;
    memcpy(values_ + count_, values, count * sizeof(T));
    count_ += count;
    return true;
  }
  bool Add(const T& value) { return Add(&value, 1); }

 private:
  bool Grow(uint32_t least) {
    uint32_t larger = capacity_ == 0 ? 64 : capacity_ * 2;
    if (larger < least) larger = least;
    void* const memory = realloc(values_, larger * sizeof(T));
    if (memory == nullptr) return false;
    values_ = static_cast<T*>(memory);
    capacity_ = larger;
    return true;
  }

  T* values_ = nullptr;
  uint32_t count_ = 0, capacity_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_GROWING_ARRAY_H_
