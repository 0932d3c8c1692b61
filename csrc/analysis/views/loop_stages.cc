#include "analysis/views/loop_stages.h"

namespace rlscope::analysis {

void LoopStages::Outside::Carry(trace::Archive* archive) {
  for (int64_t& ns : duration_ns) archive->Sum(&ns);
  for (uint64_t& stretches : count) archive->Number(&stretches);
}

void LoopStages::Carry(trace::Archive* archive, const RowLimits& limits) {
  archive->Number(&begun_);
  archive->Number(&in_loop_);
  archive->Number(&follows_);
  archive->Time(&entered_ns_);
  archive->Time(&begin_ns_);
  archive->Time(&end_ns_);
  beginning_.Carry(archive, limits);
  CarryRows(archive, limits, &before_);
  CarryRows(archive, limits, &rest_);
  left_.Carry(archive);
}

}  // namespace rlscope::analysis
