#include "analysis/process_state.h"

namespace rlscope::analysis {

ProcessInstant ThreadTable::ChangeOwner(ProcessInstant instant, uint32_t stream) {
  threads_[stream].may_own = threads_[stream].has_operation();
  if (!threads_[stream].may_own) threads_[stream].begin_ns = kNever;
  const uint32_t before = instant.owner;
  instant.owner = FindOwner(before, stream);
  if (before != kNobody && before != instant.owner) Recount(&instant, before);
  if (instant.owner != kNobody) Recount(&instant, instant.owner);
  if (stream != before && stream != instant.owner) Recount(&instant, stream);
  instant.first_row = instant.owner == kNobody ? 0 : FirstRowOf(threads_[instant.owner].state);
  return instant;
}

// Looks at all threads only when the owner itself changed.
uint32_t ThreadTable::FindOwner(uint32_t owner, uint32_t changed) const {
  if (main_ != kNobody && threads_[main_].has_operation()) return main_;
  if (owner != kNobody && owner != changed && owner != main_) {
    return BeganEarlier(changed, owner) ? changed : owner;
  }
  uint32_t first = kNobody;
  for (uint32_t stream = kFirstThreadStream; stream < threads_.size(); ++stream) {
    if (first == kNobody ? threads_[stream].has_operation() : BeganEarlier(stream, first)) {
      first = stream;
    }
  }
  return first;
}

bool ThreadTable::BeganEarlier(uint32_t stream, uint32_t other) const {
  const Thread& thread = threads_[stream];
  if (!thread.has_operation()) return false;
  const int64_t other_ns = threads_[other].begin_ns;
  return thread.begin_ns < other_ns || (thread.begin_ns == other_ns && stream < other);
}

void ThreadTable::Recount(ProcessInstant* instant, uint32_t stream) {
  Thread& thread = threads_[stream];
  const bool counts = stream == instant->owner || !thread.has_operation();
  thread.mask = counts ? ~uint64_t{0} : 0;
  const uint64_t counted = LayerCounts::Of(FieldOf(thread.state)) & thread.mask;
  instant->counts += counted - thread.counted;
  thread.counted = counted;
}

}  // namespace rlscope::analysis
