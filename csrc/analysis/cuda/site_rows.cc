#include "analysis/cuda/site_rows.h"

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

void SiteRows::AddWork(const Launch* launch, int64_t start_ns, int64_t gpu_ns) {
  if (gpu_ns == 0) return;
  SiteRow* const row = launch != nullptr ? RowOf(launch->site, launch->path, launch->start_ns)
                                         : RowOf(0, kUnlinkedPath, start_ns);
  row->gpu_ns += gpu_ns;
}

}  // namespace rlscope::analysis
