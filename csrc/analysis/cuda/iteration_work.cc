#include "analysis/cuda/iteration_work.h"

#include "analysis/gpu/gpu_kinds.h"

namespace rlscope::analysis {
namespace {

// A kernel, or a graph that was recorded as one.
bool IsKernel(uint32_t kind) {
  const GpuKey key = RowOfGpuKind(kind).key;
  return key == GpuKey::kName || key == GpuKey::kGraph;
}

}  // namespace

void IterationWork::AddWork(const Launch& launch, uint32_t kind, int64_t gpu_ns) {
  if (launch.start_ns != launch_ns_) {
    launch_ns_ = launch.start_ns;
    iteration_ = history_.IterationAt(launch_ns_);
  }
  if (iteration_ < 0) return;
  IterationWorkRow* const row =
      result_->iterations.FindOrAdd(static_cast<uint64_t>(iteration_) + 1);
  row->kernels += IsKernel(kind);
  row->busy_ns += gpu_ns;
}

}  // namespace rlscope::analysis
