// The GPU of a process: busy while at least one of its streams is
// (docs/reference/semantics.md#gpu).
#ifndef RLSCOPE_ANALYSIS_GPU_GPU_UNION_H_
#define RLSCOPE_ANALYSIS_GPU_GPU_UNION_H_

#include <stddef.h>
#include <stdint.h>

#include "analysis/keys/key.h"
#include "analysis/keys/key_stream.h"

namespace rlscope::analysis {

// Picks the keys that change the union from the merged keys of all GPU streams: from idle to busy
// and back, by turns, no two at one time.
class GpuUnion : public KeyStream {
 public:
  // Another epoch's keys.
  void SetInput(KeyStream* merged) { merged_ = merged; }

  bool Refill() override {
    position = size_ = 0;
    keys_ = buffer_ + 1;
    while (size_ == 0 && merged_->Refill()) Filter(merged_->keys(), merged_->size());
    return size_ > 0;
  }

 private:
  // Starts come first among the keys at one time, so work that follows without a gap is one
  // stretch.
  void Filter(const uint64_t* keys, size_t count) {
    size_t kept = 0;
    uint32_t busy = busy_streams_;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t starts = FieldOf(StateOf(keys[i])) == kGpuBusy;
      busy += 2 * starts - 1;
      buffer_[1 + kept] = keys[i];
      kept += busy == starts;
    }
    busy_streams_ = busy;
    size_ = kept;
  }

  KeyStream* merged_ = nullptr;
  uint32_t busy_streams_ = 0;
  uint64_t buffer_[1 + kBlockKeys + kBlockSlack] = {};
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_GPU_GPU_UNION_H_
