// The records that a thread made, beside what they say: a note of each for bookkeeping.h, and the
// probes.
#include <algorithm>

#include "analysis/threads/thread_states.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

// After ApplyRecorded.
void ThreadStates::NoteRecord(uint32_t kind, uint32_t id, uint32_t before, int64_t now) {
  const uint32_t after = State();
  switch (kind) {
    case trace::kOperationEnter:
      return PushRecord(RecordKind::kOperation, after, before, now);
    case trace::kOperationExit:
      return record_notes_.Push({now, before, after, 1, RecordKind::kOperation, /*leaves=*/true});
    case trace::kAutoSegment:
    case trace::kAutoResolve:
      return PushRecord(RecordKind::kAutomatic, after, after, now);
    case trace::kCallBegin:
      return PushCallRecord(id, after, before, now);
    case trace::kCallbackBegin:
      return PushRecord(RecordKind::kCallback, after, before, now);
    case trace::kPhase:
    case trace::kIteration:
    case trace::kTask:
    case trace::kProgressTotal:
    case trace::kProgressDone:
      return PushRecord(RecordKind::kOther, after, after, now);
    case trace::kProbe:
      // Their time is part of what the wait cost.
      if (id == trace::kProbeWait || id == trace::kProbeShortWait) return;
      return PushRecord(RecordKind::kProbe, after, after, now);
    case trace::kGap:
      return record_notes_.Push({now, after, after, ValueAsCount(), RecordKind::kLost});
    case trace::kShortWaits:
      return record_notes_.Push({now, after, after, ValueAsCount(), RecordKind::kShortWait});
    case trace::kWait:
      return record_notes_.Push({now, after, after, ValueAsCount(), RecordKind::kRoom});
  }
}

void ThreadStates::PushCallRecord(uint32_t function, uint32_t inside, uint32_t outside,
                                  int64_t now) {
  const bool is_wait = LayerOf(function) == kWaitRank;
  PushRecord(is_wait ? RecordKind::kWait : RecordKind::kNativeCall, inside, outside, now);
}

// What this item says: how many records were lost before it, how many short waits there were, or
// how long it waited for room.
uint32_t ThreadStates::ValueAsCount() const {
  if (value_ >= batch_->values) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(batch_->value[value_], UINT32_MAX));
}

// No state begins or ends at a probe.
void ThreadStates::TakeProbe(uint32_t kind, uint32_t id) {
  const uint64_t ticks = batch_->probe[probe_++];
  if (kind == trace::kProbe && recording_ && context_.probes != nullptr) {
    context_.probes->push_back({id, ticks, probe_inside_ticks_});
  }
  probe_inside_ticks_ = kind == trace::kProbeRecord ? ticks : 0;
}

}  // namespace rlscope::analysis
