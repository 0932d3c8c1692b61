#include "analysis/process/process_state.h"

namespace rlscope::analysis {

ProcessInstant ThreadTable::ChangeOwner(ProcessInstant instant, uint32_t stream) {
  threads_[stream].may_own = threads_[stream].has_operation();
  if (!threads_[stream].may_own) threads_[stream].begin_ns = kNever;
  const uint32_t before = instant.owner;
  instant.owner = FindOwner(before, stream);
  for (uint32_t changed : {before, instant.owner, stream, main_}) {
    if (changed != kNobody) Recount(&instant, changed);
  }
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

// The main thread works for no other one.
bool ThreadTable::Counts(uint32_t stream, uint32_t owner) const {
  if (stream == owner) return true;
  return !threads_[stream].has_operation() && (stream != main_ || owner == kNobody);
}

void ThreadTable::Recount(ProcessInstant* instant, uint32_t stream) {
  Thread& thread = threads_[stream];
  thread.mask = Counts(stream, instant->owner) ? ~uint64_t{0} : 0;
  const uint64_t counted = LayerCounts::Of(FieldOf(thread.state)) & thread.mask;
  instant->counts += counted - thread.counted;
  thread.counted = counted;
}

void ThreadTable::Carry(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths,
                        ProcessInstant* instant) {
  streams.CarryEach(archive, [&](uint32_t stream) {
    Thread& thread = threads_[stream];
    CarryState(archive, paths, &thread.state);
    archive->Time(&thread.begin_ns);
    archive->Number(&thread.may_own);
  });
  bool is_owned = instant->owner != kNobody;
  archive->Number(&is_owned);
  if (!is_owned) instant->owner = kNobody;
  if (is_owned) streams.Carry(archive, &instant->owner);
  if (!archive->reads() || !archive->ok()) return;
  for (uint32_t stream = 0; stream < threads_.size(); ++stream) Recount(instant, stream);
  instant->first_row = is_owned ? FirstRowOf(threads_[instant->owner].state) : 0;
}

}  // namespace rlscope::analysis
