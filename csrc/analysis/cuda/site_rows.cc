#include "analysis/cuda/site_rows.h"

#include <algorithm>
#include <numeric>

#include "analysis/gpu/gpu_merge.h"

namespace rlscope::analysis {

// Of a call that began at this time, or of work without one.
SiteRow* SiteRows::RowOf(uint32_t site, uint32_t path, int64_t time_ns) {
  const OperationPaths::Node node =
      path == kUnlinkedPath ? OperationPaths::Node() : result_->paths.node(path);
  return result_->sites.FindOrAdd(
      MakeSiteKey(site, LoopStages::StageOf(loop_, time_ns, node), path));
}

void SiteRows::AddCall(const CudaCall& call) {
  result_->has_sites |= call.site != 0;
  ++RowOf(call.site, call.path, call.start_ns)->calls;
}

void SiteRows::ReadWork(const std::vector<GpuInput>& inputs, const LaunchTable& launches) {
  std::vector<uint32_t> streams(inputs.size());
  std::iota(streams.begin(), streams.end(), 0);
  std::vector<size_t> hints(inputs.size());
  GpuMerge at(inputs, streams, trace::Detail::kAll);
  int64_t covered_until_ns = INT64_MIN;
  while (at.Next()) {
    if (!IsGpuWork(at.kind())) continue;
    const int64_t gpu_ns =
        recorded_.Between(std::max(at.start_ns(), covered_until_ns), at.end_ns());
    covered_until_ns = std::max(covered_until_ns, at.end_ns());
    if (gpu_ns == 0) continue;
    const Launch* const launch =
        launches.Find(at.batch().correlation[at.index()], &hints[at.stream()]);
    SiteRow* const row = launch != nullptr ? RowOf(launch->site, launch->path, launch->start_ns)
                                           : RowOf(0, kUnlinkedPath, at.start_ns());
    row->gpu_ns += gpu_ns;
  }
}

}  // namespace rlscope::analysis
