// How the time in which the GPU of a process is busy divides into pieces of work.
#ifndef RLSCOPE_ANALYSIS_CUDA_GPU_SHARES_H_
#define RLSCOPE_ANALYSIS_CUDA_GPU_SHARES_H_

#include <stdint.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/cuda/launch_table.h"
#include "analysis/gpu/gpu_merge.h"
#include "analysis/process/recorded_time.h"

namespace rlscope::analysis {

// The union of the work of all devices, cut by windows. Where several pieces of work run at once,
// the time belongs to the one that began first. Calls add(at, launch, gpu_ns) with each piece that
// touches a window, in order of start; `launch` is null if the trace has none, `gpu_ns` may be 0.
template <class Add>
void ReadGpuShares(const std::vector<GpuInput>& inputs, const RecordedTime& recorded,
                   const LaunchTable& launches, Add add) {
  std::vector<uint32_t> streams(inputs.size());
  std::iota(streams.begin(), streams.end(), 0);
  std::vector<size_t> hints(inputs.size());
  GpuMerge at(inputs, streams, trace::Detail::kAll);
  int64_t covered_until_ns = INT64_MIN;
  while (at.Next()) {
    if (!IsGpuWork(at.kind()) || !recorded.Touches(at.start_ns(), at.end_ns())) continue;
    const int64_t gpu_ns = recorded.Between(std::max(at.start_ns(), covered_until_ns), at.end_ns());
    covered_until_ns = std::max(covered_until_ns, at.end_ns());
    const Launch* const launch =
        launches.Find(at.batch().correlation[at.index()], &hints[at.stream()]);
    add(at, launch, gpu_ns);
  }
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_GPU_SHARES_H_
