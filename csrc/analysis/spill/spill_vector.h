// A growing array of plain values that moves from memory to an unlinked temporary file once it
// passes kMemoryBytes, so that a result of any size costs a bounded amount of memory.
#ifndef RLSCOPE_ANALYSIS_SPILL_SPILL_VECTOR_H_
#define RLSCOPE_ANALYSIS_SPILL_SPILL_VECTOR_H_

#include <stddef.h>
#include <string.h>

#include <type_traits>
#include <utility>

namespace rlscope::analysis {

// The bytes below a SpillVector: zero-filled pages of anonymous memory or of a file in TMPDIR
// (else /tmp) that has no name any more. Throws std::system_error when there is no room.
class SpillMemory {
 public:
  // One sweep holds fewer than sixteen arrays that can grow with the trace: 64 MiB in all. (Queues
  // of notes are short but for a thread that does a hundred thousand things at one instant.)
  static constexpr size_t kMemoryBytes = 4 << 20;

  SpillMemory() = default;
  ~SpillMemory();
  SpillMemory(SpillMemory&& other) noexcept { Swap(&other); }
  SpillMemory& operator=(SpillMemory&& other) noexcept {
    Swap(&other);
    return *this;
  }

  void* data() const { return data_; }
  size_t capacity() const { return capacity_; }
  bool in_file() const { return descriptor_ >= 0; }

  // At least `bytes` of capacity; new bytes are zero, old ones are kept, data() may move.
  void Reserve(size_t bytes);

 private:
  void Swap(SpillMemory* other);
  void GrowMemory(size_t capacity);
  void MoveToFile(size_t capacity);
  void GrowFile(size_t capacity);
  void Release();

  void* data_ = nullptr;
  size_t capacity_ = 0;
  int descriptor_ = -1;
};

template <class T>
class SpillVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SpillVector() = default;
  SpillVector(SpillVector&& other) noexcept { *this = std::move(other); }
  SpillVector& operator=(SpillVector&& other) noexcept {
    memory_ = std::move(other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool in_file() const { return memory_.in_file(); }
  T* begin() const { return static_cast<T*>(memory_.data()); }
  T* end() const { return begin() + size_; }
  T& operator[](size_t index) const { return begin()[index]; }
  T& back() const { return begin()[size_ - 1]; }

  void push_back(const T& value) {
    if ((size_ + 1) * sizeof(T) > memory_.capacity()) memory_.Reserve((size_ + 1) * sizeof(T));
    begin()[size_++] = value;
  }
  void RemoveLast() { --size_; }
  void RemoveFirst(size_t count) {
    size_ -= count;
    if (size_ > 0) memmove(begin(), begin() + count, size_ * sizeof(T));
  }
  // Appends `count` values that are all zero bytes; returns the index of the first. Only while
  // nothing was ever removed.
  size_t AppendZeros(size_t count) {
    memory_.Reserve((size_ + count) * sizeof(T));
    size_ += count;
    return size_ - count;
  }

 private:
  SpillMemory memory_;
  size_t size_ = 0;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SPILL_SPILL_VECTOR_H_
