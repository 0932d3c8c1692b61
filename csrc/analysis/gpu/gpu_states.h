// The states of one GPU stream: idle or busy (docs/reference/semantics.md#gpu).
#ifndef RLSCOPE_ANALYSIS_GPU_GPU_STATES_H_
#define RLSCOPE_ANALYSIS_GPU_GPU_STATES_H_

#include <stdint.h>

#include <memory>

#include "analysis/keys/state_stream.h"
#include "analysis/process/history.h"
#include "analysis/process/losses.h"
#include "analysis/process/source.h"

namespace rlscope::analysis {

class GpuStates : public StateStream {
 public:
  // Work is cut at the first window's start and the last one's stop.
  GpuStates(const History& history, const GpuInput& input, Losses* losses, const KeyLayout& layout);

  int64_t NextChange() const override;

 private:
  void Fill() override;
  int64_t Next() const { return busy_ ? end_ns_ : start_ns_; }
  void WriteStretches(KeyWriter* writer);
  // The next stretch of work into start_ns_ and end_ns_, kNever if there is none: intervals that
  // meet or overlap are one.
  void FindStretch();
  // The next interval of work into ahead_start_ns_ and ahead_end_ns_.
  void FindInterval();
  bool LoadBatch();

  const int64_t first_ns_;
  const int64_t last_ns_;
  const GpuInput& input_;
  Losses* const losses_;
  bool opened_ = false;
  std::unique_ptr<GpuSource> source_;
  const trace::GpuBatch* batch_ = nullptr;
  uint32_t interval_ = 0;
  uint32_t intervals_ = 0;           // of the batch
  int64_t ahead_start_ns_ = kNever;  // of the interval that was read, and is not in the stretch
  int64_t ahead_end_ns_ = kNever;
  bool busy_ = false;
  int64_t start_ns_ = kNever;
  int64_t end_ns_ = kNever;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_GPU_GPU_STATES_H_
