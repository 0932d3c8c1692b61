// The readings of which threads were awake and where they were, one after the other, from their
// chunks.
#ifndef RLSCOPE_ANALYSIS_PROCESS_STATE_CURSOR_H_
#define RLSCOPE_ANALYSIS_PROCESS_STATE_CURSOR_H_

#include <stddef.h>
#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/keys/key.h"
#include "trace/read/chunk_parser.h"

namespace rlscope::analysis {

class StateCursor {
 public:
  // Those later than `after_ns`. The payloads must outlive this. A damaged chunk has the readings
  // before the damage, and one that is no later than the one before it is left out.
  StateCursor(std::vector<trace::Span> chunks, int64_t after_ns)
      : chunks_(std::move(chunks)), last_ns_(after_ns) {
    Find();
  }

  // kNever: there are no more.
  int64_t time_ns() const { return sample_ < samples_.size() ? samples_[sample_].time_ns : kNever; }
  const std::vector<uint32_t>& awake() const { return samples_[sample_].awake; }
  const std::vector<std::pair<uint32_t, uint32_t>>& stacks() const {
    return samples_[sample_].stacks;
  }
  void Next() {
    last_ns_ = time_ns();
    ++sample_;
    Find();
  }

 private:
  void Find() {
    while (true) {
      while (sample_ < samples_.size() && samples_[sample_].time_ns <= last_ns_) ++sample_;
      if (sample_ < samples_.size() || chunk_ == chunks_.size()) return;
      samples_.clear();
      sample_ = 0;
      trace::ParseStates(chunks_[chunk_++], &samples_);
    }
  }

  const std::vector<trace::Span> chunks_;
  size_t chunk_ = 0;
  std::vector<trace::StateSample> samples_;  // of the chunk before `chunk_`
  size_t sample_ = 0;
  int64_t last_ns_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_STATE_CURSOR_H_
