// GPU work by the iteration that launched it
// (docs/reference/semantics.md#gpu-work-of-an-iteration).
#ifndef RLSCOPE_ANALYSIS_CUDA_ITERATION_WORK_H_
#define RLSCOPE_ANALYSIS_CUDA_ITERATION_WORK_H_

#include <stdint.h>

#include "analysis/cuda/cuda_result.h"
#include "analysis/cuda/launch_table.h"
#include "analysis/process/history.h"
#include "trace/layout/cuda_interval.h"

namespace rlscope::analysis {

class IterationWork {
 public:
  IterationWork(const History& history, CudaResult* result) : history_(history), result_(result) {}

  bool has_iterations() const { return !history_.iterations().empty(); }
  // Work of this kind, which adds so much to the time in which the GPU is busy.
  void AddWork(const Launch& launch, uint32_t kind, int64_t gpu_ns);

 private:
  const History& history_;
  CudaResult* const result_;
  int64_t launch_ns_ = INT64_MIN;  // of the work before, which several pieces may share
  int64_t iteration_ = -1;         // of that launch
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_ITERATION_WORK_H_
