// Counts what operator new gives out: include it in one file of a test program, which then knows
// the most that was in use at a time.
#ifndef RLSCOPE_TESTS_CPP_COUNTED_MEMORY_H_
#define RLSCOPE_TESTS_CPP_COUNTED_MEMORY_H_

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <new>

namespace rlscope::tests {

inline std::atomic<size_t> bytes_in_use{0};
inline std::atomic<size_t> most_bytes{0};

// The most bytes in use since its construction, beyond those in use then.
class MemoryPeak {
 public:
  MemoryPeak() : before_(bytes_in_use) { most_bytes = before_; }
  size_t bytes() const { return most_bytes - before_; }

 private:
  const size_t before_;
};

}  // namespace rlscope::tests

void* operator new(size_t size) {
  void* memory = malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = rlscope::tests::bytes_in_use += malloc_usable_size(memory);
  size_t most = rlscope::tests::most_bytes;
  while (now > most && !rlscope::tests::most_bytes.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void operator delete(void* memory) noexcept {
  rlscope::tests::bytes_in_use -= malloc_usable_size(memory);
  free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

#endif  // RLSCOPE_TESTS_CPP_COUNTED_MEMORY_H_
