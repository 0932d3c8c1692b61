// CUDA calls by the stack that made them, and the GPU time of what they launched
// (docs/reference/semantics.md#gpu-time-of-a-line).
#ifndef RLSCOPE_ANALYSIS_CUDA_SITE_ROWS_H_
#define RLSCOPE_ANALYSIS_CUDA_SITE_ROWS_H_

#include <stdint.h>

#include <vector>

#include "analysis/cuda/cuda_follower.h"
#include "analysis/cuda/cuda_result.h"
#include "analysis/cuda/launch_table.h"
#include "analysis/process/recorded_time.h"

namespace rlscope::analysis {

class SiteRows {
 public:
  SiteRows(const RecordedTime& recorded, const LoopSpan& loop, CudaResult* result)
      : recorded_(recorded), loop_(loop), result_(result) {}

  void AddCall(const CudaCall& call);

  // After all calls: the union of the work of all devices, cut by windows. Where several pieces of
  // work run at once, the time belongs to the one that began first.
  void ReadWork(const std::vector<GpuInput>& inputs, const LaunchTable& launches);

 private:
  SiteRow* RowOf(uint32_t site, uint32_t path, int64_t time_ns);

  const RecordedTime& recorded_;
  const LoopSpan loop_;
  CudaResult* const result_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_SITE_ROWS_H_
