// When the recording windows of a process changed, copied from its page (shared_pages.h).
#ifndef RLSCOPE_TRACE_WRITE_WINDOW_CHANGES_H_
#define RLSCOPE_TRACE_WRITE_WINDOW_CHANGES_H_

#include <stdint.h>

#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

// Numbered from 0 in the life of a process; the last ones are known.
class WindowChanges {
 public:
  struct Change {
    uint64_t ticks;
    bool starts;
  };

  // Copies what `page` holds now. The producer may write at the same time.
  void Read(const ProcessPage& page);
  // For tests of the encoder.
  void Append(uint64_t ticks, bool starts);

  uint32_t end() const { return end_; }  // one after the last
  // The first one that is known.
  uint32_t begin() const { return begin_; }
  Change operator[](uint32_t number) const {
    const uint64_t value = values_[number % kWindowChanges];
    return {value >> 1, (value & 1) != 0};
  }

 private:
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  uint64_t values_[kWindowChanges] = {};
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_WINDOW_CHANGES_H_
