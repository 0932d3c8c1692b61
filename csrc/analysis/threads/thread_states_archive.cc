// The state of a thread between two sweeps: of the part before, and of the rest.
#include <algorithm>

#include "analysis/archive/archived_streams.h"
#include "analysis/threads/thread_states.h"
#include "trace/format/what.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

bool ThreadStates::IsBehind(const trace::ChunkPlace& chunk) const {
  if (!opened_ || items_ == nullptr) return false;
  const trace::CursorPlace place = batch_ == nullptr ? items_->after() : items_->before();
  return place.begun && !(place.last < chunk);
}

void ThreadStates::Carry(trace::Archive* archive) {
  const uint32_t paths = context_.paths->size();
  archive->Number(&opened_);
  if (!opened_) return;
  CarryState(archive, paths, &writer_.state);
  archive->Number(&alive_);
  archive->Number(&ended_);
  archive->Number(&recording_);
  archive->Below(&window_, context_.history->windows().size() + 1);
  if (recording_ && window_ == context_.history->windows().size()) archive->Fail();
  archive->Time(&begin_ns_);
  archive->Time(&python_begin_ns_);
  archive->Below(&base_layer_, kLayers);
  archive->Number(&outermost_entry_);
  operations_.Carry(archive);
  entered_before_ = operations_.has_entered();
  calls_.Carry(archive, paths);
  CarryItems(archive);
  bool has_automatic = automatic_ != nullptr;
  archive->Number(&has_automatic);
  if (!archive->ok()) return;
  if (has_automatic) GetAutomatic()->Carry(archive, input_.resume_items);
  if (archive->reads()) ResumeEdges();
  if (context_.reasons != nullptr) noted_reason_ = reason();
}

void ThreadStates::CarryItems(trace::Archive* archive) {
  archive->Time(&items_end_ns_);
  archive->Time(&next_item_);
  archive->Number(&call_is_open_);
  archive->Number(&close_before_batch_);
  archive->Number(&enter_snapshot_);
  archive->Number(&has_read_);
  archive->Number(&item_);
  trace::CursorPlace place;
  if (!archive->reads()) place = next_item_ == kNever ? items_->after() : items_->before();
  place.Carry(archive);
  if (archive->reads() && archive->ok()) ResumeItems(place, archive);
}

void ThreadStates::ResumeItems(const trace::CursorPlace& place, trace::Archive* archive) {
  items_ = input_.resume_items(place);
  items_end_ns_ = std::max(items_end_ns_, Floor());
  if (next_item_ == kNever) return ResumeWait(place.last);
  batch_ = items_->Next();
  if (batch_ == nullptr || item_ >= batch_->count) return archive->Fail();
  const auto count_before = [this](auto is_such) {
    return static_cast<uint32_t>(
        std::count_if(batch_->what, batch_->what + item_,
                      [is_such](uint32_t what) { return is_such(trace::WhatKind(what)); }));
  };
  call_ = count_before([](uint32_t kind) { return kind == trace::kCall; });
  value_ = count_before(trace::HasTwoSlots);
  probe_ = count_before(trace::IsOfProbe);
  // When the process would end was not known.
  if (next_item_ > context_.input->end_ns) next_item_ = Clamp(next_item_, items_end_ns_);
}

// A chunk without slots may have told of a wait that was open at the edge. Its record begins the
// chunk that comes in the place of that one. Where the wait was closed meanwhile, as by the stop of
// a window, nothing of the record counts.
void ThreadStates::ResumeWait(const trace::ChunkPlace& last) {
  const uint64_t clamped = context_.losses->clamped;
  LoadBatch();
  if (next_item_ == kNever || close_before_batch_ || enter_snapshot_) return;
  const trace::ChunkPlace chunk = items_->after().last;
  const bool is_same = chunk.ring == last.ring && chunk.first_slot == last.first_slot;
  if (!is_same || chunk.base_ticks != last.base_ticks) return;
  context_.losses->clamped = clamped;
  const bool is_whole = trace::WhatKind(batch_->what[item_]) == trace::kCall;
  const bool is_open = calls_.in_call() && calls_.layer() == kWaitRank;
  if (is_open) calls_.SetFunction(trace::WhatId(batch_->what[item_]));
  if (!is_open || !is_whole) return NextItem();
  call_is_open_ = true;
  next_item_ = Clamp(batch_->call_end_ns[call_], next_item_);
}

// What was not known before: CUDA calls, later windows, and when the interpreter was finalised.
void ThreadStates::ResumeEdges() {
  const ProcessInput& process = *context_.input;
  if (input_.open_cuda_calls) {
    OpenCudaCalls();
    LoadCudaBatch();
  }
  const bool is_known = input_.is_python && process.python_end_ns != ProcessInput::kUnknownTime;
  python_end_ns_ = is_known ? process.python_end_ns : kNever;
  if (!ended_) FindNextEdge();
}

}  // namespace rlscope::analysis
