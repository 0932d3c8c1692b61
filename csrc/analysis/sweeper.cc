#include "analysis/sweeper.h"

#include <algorithm>
#include <utility>

#include "analysis/deepest_layer.h"

namespace rlscope::analysis {

Sweeper::Sweeper(SweepResult* result, Streams* streams)
    : result_(result),
      layout_(streams->layout()),
      notes_(streams->Notes()),
      bucket_ns_(result->bucket_ns),
      threads_(result->threads.get()),
      table_(streams->size(), streams->main()),
      owner_calls_(&result->counts, notes_.size()),
      counts_zeros_(CountsZeros()),
      now_ns_(result->history.start_ns()) {
  result_->process.Reserve(result_->paths.size());
  ApplyEdges(now_ns_);
}

void Sweeper::Consume(const uint64_t* keys, size_t count) {
  result_->keys += count;
  unflushed_keys_ += count;
  if (unflushed_keys_ > RowTimes::kMostCounts) {
    result_->process.Flush();
    unflushed_keys_ = count;
  }
  result_->process.Reserve(result_->paths.size());
  while (count > 0) {
    const int64_t edge_ns = NextEdge();
    const uint64_t* end = keys + count;
    if (TimeOf(end[-1]) >= edge_ns) {
      end = std::partition_point(keys, end, [&](uint64_t key) { return TimeOf(key) < edge_ns; });
    }
    if (threads_ != nullptr) threads_->Take(keys, end, epoch_start_ns_);
    recording_ ? Run(keys, end) : RunInGap(keys, end);
    count -= static_cast<size_t>(end - keys);
    keys = end;
    if (count > 0) ApplyEdges(edge_ns);
  }
  for (NoteQueue* notes : notes_) notes->Compact();
}

void Sweeper::Finish() {
  const int64_t end_ns = result_->history.end_ns();
  for (int64_t edge_ns = NextEdge(); edge_ns < end_ns; edge_ns = NextEdge()) ApplyEdges(edge_ns);
  AdvanceTo(end_ns);
  owner_calls_.Resolve(instant_.path());
  for (uint32_t stream = kFirstThreadStream; stream < notes_.size(); ++stream) {
    TakeNotes(stream, end_ns);
  }
  owner_calls_.Resolve(instant_.path());
  result_->process.Flush();
  if (bucket_ns_ > 0) result_->process.EndBucket(bucket_);
  if (threads_ != nullptr) threads_->Finish(end_ns);
}

// ---- keys ---------------------------------------------------------------------------------------

// Notes of an instant are resolved once all its keys are applied.
void Sweeper::Run(const uint64_t* keys, const uint64_t* end) {
  // From the epoch before to this one any time may pass.
  if (keys != end) AdvanceTo(TimeOf(*keys));
  while (keys != end) {
    const uint64_t* stop = end;
    if (owner_calls_.pending()) {
      if (TimeOf(*keys) == now_ns_) {
        stop = keys + 1;
      } else {
        owner_calls_.Resolve(instant_.path());
      }
    }
    keys = counts_zeros_ ? RunToNote<DeepestByZeros>(keys, stop)
                         : RunToNote<DeepestByComparing>(keys, stop);
    if (keys[-1] & kNoteBit) TakeNotes(layout_.StreamOf(keys[-1]), now_ns_);
  }
}

// The inner loop: charges and applies keys up to and including the first one with a note. Returns
// the key after it.
template <class Deepest>
const uint64_t* Sweeper::RunToNote(const uint64_t* keys, const uint64_t* end) {
  const KeyLayout layout = layout_;
  ThreadTable::Thread* const table = &table_[0];
  ProcessInstant instant = instant_;
  RowTimes rows = *result_->process.times();
  int64_t now = now_ns_ - epoch_start_ns_;
  uint64_t key = 0;
  while (keys != end && !(key & kNoteBit)) {
    key = *keys++;
    const int64_t time = layout.TimeOf(key);
    const uint32_t row = instant.first_row + Deepest::RowOf(instant.counts);
    if (__builtin_expect(rows.Add(row, time - now), 0)) {
      result_->process.Touch(row);
    }
    now = time;
    const uint32_t stream = layout.StreamOf(key);
    ThreadTable::Change(&instant, table + stream, stream, StateOf(key));
  }
  instant_ = instant;
  *result_->process.times() = rows;
  now_ns_ = epoch_start_ns_ + now;
  return keys;
}

void Sweeper::RunInGap(const uint64_t* keys, const uint64_t* end) {
  for (; keys != end; ++keys) {
    AdvanceTo(TimeOf(*keys));
    const uint32_t stream = layout_.StreamOf(*keys);
    ThreadTable::Change(&instant_, &table_[stream], stream, StateOf(*keys));
    if (*keys & kNoteBit) TakeNotes(stream, now_ns_);
  }
}

void Sweeper::TakeNotes(uint32_t stream, int64_t now) {
  NoteQueue* notes = notes_[stream];
  bool owner_may_change = table_[stream].has_operation() != table_[stream].may_own;
  while (!notes->empty() && notes->front().time_ns <= now) {
    const Note& note = notes->front();
    if (note.kind == Note::Kind::kOutermostBegan) {
      table_[stream].begin_ns = note.value;
      owner_may_change = true;
    } else {
      owner_calls_.Add(stream, note);
    }
    notes->Pop();
  }
  if (owner_may_change) instant_ = table_.ChangeOwner(instant_, stream);
}

// ---- edges --------------------------------------------------------------------------------------

int64_t Sweeper::NextEdge() const {
  const SpillVector<Edge>& edges = result_->history.edges();
  int64_t next_ns = edge_ < edges.size() ? edges[edge_].time_ns : kNever;
  if (bucket_ns_ > 0) {
    next_ns = std::min(next_ns, result_->history.start_ns() + (bucket_ + 1) * bucket_ns_);
  }
  return next_ns;
}

void Sweeper::ApplyEdges(int64_t now) {
  AdvanceTo(now);
  result_->process.Flush();
  if (bucket_ns_ > 0 && now == result_->history.start_ns() + (bucket_ + 1) * bucket_ns_) {
    result_->process.EndBucket(bucket_++);
  }
  const SpillVector<Edge>& edges = result_->history.edges();
  for (; edge_ < edges.size() && edges[edge_].time_ns <= now; ++edge_) {
    result_->process.SetPhase(edges[edge_].phase);
    recording_ = edges[edge_].recording;
    if (threads_ != nullptr) threads_->SetPhase(edges[edge_].phase, now, !recording_);
  }
}

void Sweeper::AdvanceTo(int64_t now) {
  if (now == now_ns_) return;
  owner_calls_.Resolve(instant_.path());
  const uint32_t row = recording_ ? instant_.row() : MakeRow(kNotRecordedPath, 0, false);
  result_->process.Charge(row, now - now_ns_);
  now_ns_ = now;
}

}  // namespace rlscope::analysis
