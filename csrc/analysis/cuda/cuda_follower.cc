#include "analysis/cuda/cuda_follower.h"

#include "analysis/sweep/thread_archive.h"

namespace rlscope::analysis {

CudaFollower::CudaFollower(Streams* streams, CudaCallSink* sink)
    : layout_(streams->layout()),
      notes_(streams->Notes()),
      calls_(streams->CudaCalls()),
      sink_(sink),
      table_(streams->size(), streams->main()),
      open_(streams->size()) {}

void CudaFollower::Consume(const uint64_t* keys, size_t count) {
  for (const uint64_t* key = keys; key != keys + count; ++key) {
    const int64_t now = epoch_start_ns_ + layout_.TimeOf(*key);
    if (now != now_ns_) Settle();
    now_ns_ = now;
    const uint32_t stream = layout_.StreamOf(*key);
    ThreadTable::Change(&instant_, &table_[stream], stream == instant_.owner, *key);
    if (*key & kNoteBit) ChangeOwner(stream);
  }
  for (OutermostNotes* notes : notes_) notes->Compact();
  for (CudaNotes* calls : calls_) calls->Compact();
  sink_->AdvanceTo(now_ns_);
}

void CudaFollower::ChangeOwner(uint32_t stream) {
  touched_.push_back(stream);
  OutermostNotes* notes = notes_[stream];
  bool owner_may_change = table_[stream].has_operation() != table_[stream].may_own;
  for (; !notes->empty() && notes->front().time_ns <= now_ns_; notes->Pop()) {
    table_[stream].begin_ns = notes->front().begin_ns;
    owner_may_change = true;
  }
  if (owner_may_change) instant_ = table_.ChangeOwner(instant_, stream);
}

// Everything of the instant has happened.
void CudaFollower::Settle() {
  if (instant_.path() != path_) {
    sink_->ChangeOwner(path_, now_ns_, instant_.path());
    path_ = instant_.path();
  }
  for (uint32_t stream : touched_) TakeCalls(stream);
  touched_.clear();
}

void CudaFollower::TakeCalls(uint32_t stream) {
  CudaNotes* const notes = calls_[stream];
  CudaCall* const open = &open_[stream];
  const bool is_main = stream == table_.main();
  for (; !notes->empty() && notes->front().time_ns <= now_ns_; notes->Pop()) {
    const CudaNote& note = notes->front();
    if (note.begins) {
      const uint32_t path = is_main || IsOperation(note.path) ? note.path : instant_.path();
      *open = {stream, note.time_ns, note.time_ns,     note.name,
               path,   note.status,  note.correlation, note.site};
    } else {
      open->end_ns = note.time_ns;
      sink_->AddCall(*open);
    }
  }
}

void CudaFollower::Finish(int64_t end_ns) {
  Settle();
  now_ns_ = kNever;
  for (uint32_t stream = kFirstThreadStream; stream < calls_.size(); ++stream) TakeCalls(stream);
  sink_->ChangeOwner(path_, end_ns, path_);
  sink_->AdvanceTo(kNever);
}

void CudaFollower::GoOn(trace::Archive* archive, const Streams& streams, uint32_t paths,
                        OwnerCalls* calls) {
  CarryOwner(archive, streams, paths, &table_, &instant_, calls);
  path_ = instant_.path();
}

}  // namespace rlscope::analysis
