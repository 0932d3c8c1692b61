// CUDA calls by the stack that made them, and the GPU time of what they launched
// (docs/reference/semantics.md#gpu-time-of-a-line).
#ifndef RLSCOPE_ANALYSIS_CUDA_SITE_ROWS_H_
#define RLSCOPE_ANALYSIS_CUDA_SITE_ROWS_H_

#include <stdint.h>

#include "analysis/cuda/cuda_follower.h"
#include "analysis/cuda/cuda_result.h"
#include "analysis/cuda/launch_table.h"

namespace rlscope::analysis {

class SiteRows {
 public:
  SiteRows(const LoopSpan& loop, CudaResult* result) : loop_(loop), result_(result) {}

  void AddCall(const CudaCall& call);

  // After all calls: work that began then, and what it adds to the time in which the GPU is busy
  // (gpu_shares.h). `launch` is null if the trace has none.
  void AddWork(const Launch* launch, int64_t start_ns, int64_t gpu_ns);

 private:
  SiteRow* RowOf(uint32_t site, uint32_t path, int64_t time_ns);

  const LoopSpan loop_;
  CudaResult* const result_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_SITE_ROWS_H_
