// How long at least one of some GPU streams worked: a union, in recorded time
// (docs/reference/semantics.md#gpu).
#ifndef RLSCOPE_ANALYSIS_GPU_BUSY_TIME_H_
#define RLSCOPE_ANALYSIS_GPU_BUSY_TIME_H_

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "analysis/gpu/gpu_merge.h"
#include "analysis/keys/key.h"
#include "analysis/process/recorded_time.h"

namespace rlscope::analysis {

class BusyTime {
 public:
  // As GpuMerge; `recorded` must outlive it too.
  BusyTime(const std::vector<GpuInput>& inputs, const std::vector<uint32_t>& streams,
           const RecordedTime& recorded)
      : merge_(inputs, streams, trace::Detail::kTimes), recorded_(recorded) {
    FindWork();
  }

  // Busy time since the call before (at first: from the beginning) up to `time_ns`, which never
  // decreases.
  int64_t AdvanceTo(int64_t time_ns) {
    int64_t busy_ns = 0;
    while (now_ns_ < time_ns) {
      for (; next_start_ns_ <= now_ns_; FindWork()) {
        busy_until_ns_ = std::max(busy_until_ns_, merge_.end_ns());
      }
      const int64_t until_ns = std::min(time_ns, next_start_ns_);
      busy_ns += recorded_.Between(now_ns_, std::min(until_ns, busy_until_ns_));
      now_ns_ = until_ns;
    }
    return busy_ns;
  }

 private:
  void FindWork() {
    while (merge_.Next()) {
      next_start_ns_ = merge_.start_ns();
      if (IsGpuWork(merge_.kind())) return;
    }
    next_start_ns_ = kNever;
  }

  GpuMerge merge_;
  const RecordedTime& recorded_;
  int64_t next_start_ns_;
  int64_t now_ns_ = INT64_MIN;
  int64_t busy_until_ns_ = INT64_MIN;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_GPU_BUSY_TIME_H_
