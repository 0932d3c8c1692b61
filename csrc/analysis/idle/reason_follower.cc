#include "analysis/idle/reason_follower.h"

#include <algorithm>

#include "analysis/keys/row.h"
#include "analysis/sweep/thread_archive.h"

namespace rlscope::analysis {

ReasonFollower::ReasonFollower(Streams* streams, const History& history, ReasonSink* sink)
    : layout_(streams->layout()),
      history_(history),
      notes_(streams->Notes()),
      reason_notes_(streams->Reasons()),
      sink_(sink),
      table_(streams->size(), streams->main()),
      reasons_(streams->size(), Reason::kNone),
      now_ns_(history.start_ns()) {
  ApplyEdges();
}

void ReasonFollower::Consume(const uint64_t* keys, size_t count) {
  for (const uint64_t* key = keys; key != keys + count; ++key) {
    AdvanceTo(epoch_start_ns_ + layout_.TimeOf(*key));
    const uint32_t stream = layout_.StreamOf(*key);
    ThreadTable::Change(&instant_, &table_[stream], stream == instant_.owner, *key);
    if (*key & kNoteBit) TakeNotes(stream);
  }
  for (OutermostNotes* notes : notes_) notes->Compact();
  for (ReasonNotes* notes : reason_notes_) notes->Compact();
}

void ReasonFollower::TakeNotes(uint32_t stream) {
  ReasonNotes* const reasons = reason_notes_[stream];
  for (; !reasons->empty() && reasons->front().time_ns <= now_ns_; reasons->Pop()) {
    reasons_[stream] = reasons->front().reason;
  }
  OutermostNotes* const notes = notes_[stream];
  bool owner_may_change = table_[stream].has_operation() != table_[stream].may_own;
  for (; !notes->empty() && notes->front().time_ns <= now_ns_; notes->Pop()) {
    table_[stream].begin_ns = notes->front().begin_ns;
    owner_may_change = true;
  }
  if (owner_may_change) instant_ = table_.ChangeOwner(instant_, stream);
}

// The end of a process may be later than its last key, and before it.
void ReasonFollower::AdvanceTo(int64_t now) {
  now = std::min(now, history_.end_ns());
  while (now_ns_ < now) {
    const SpillVector<Edge>& edges = history_.edges();
    const int64_t edge_ns = edge_ < edges.size() ? edges[edge_].time_ns : kNever;
    const int64_t until_ns = std::min(now, edge_ns);
    if (recording_) {
      sink_->AddTime(instant_.row(), FindReason(), now_ns_, until_ns);
    } else {
      sink_->AddTime(MakeRow(kNotRecordedPath, 0, false), Reason::kNone, now_ns_, until_ns);
    }
    now_ns_ = until_ns;
    ApplyEdges();
  }
}

void ReasonFollower::ApplyEdges() {
  const SpillVector<Edge>& edges = history_.edges();
  for (; edge_ < edges.size() && edges[edge_].time_ns <= now_ns_; ++edge_) {
    recording_ = edges[edge_].recording;
  }
}

Reason ReasonFollower::FindReason() const {
  const uint32_t layer = LayerOfRow(instant_.row());
  const uint32_t stream = FindDeepest(layer);
  const Reason known = stream == kNobody ? Reason::kNone : reasons_[stream];
  return known != Reason::kNone ? known : ReasonOfLayer(layer);
}

// The owner or the main thread, if it is in the layer; else the first thread that is and counts.
uint32_t ReasonFollower::FindDeepest(uint32_t layer) const {
  const uint32_t first = instant_.owner != kNobody ? instant_.owner : table_.main();
  if (first != kNobody && IsIn(first, layer)) return first;
  for (uint32_t stream = kFirstThreadStream; stream < reasons_.size(); ++stream) {
    if (IsIn(stream, layer)) return stream;
  }
  return kNobody;
}

bool ReasonFollower::IsIn(uint32_t stream, uint32_t layer) const {
  return table_.CountsNow(stream) && FieldOf(table_.at(stream).state) == layer;
}

void ReasonFollower::GoOn(trace::Archive* archive, const Streams& streams, uint32_t paths,
                          OwnerCalls* calls, int64_t until_ns) {
  CarryOwner(archive, streams, paths, &table_, &instant_, calls);
  for (size_t i = 0; i < streams.threads().size(); ++i) {
    reasons_[kFirstThreadStream + i] = streams.threads()[i]->reason();
  }
  now_ns_ = std::max(now_ns_, until_ns);
  ApplyEdges();
}

}  // namespace rlscope::analysis
