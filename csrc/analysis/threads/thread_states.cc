#include "analysis/threads/thread_states.h"

#include <algorithm>

#include "trace/format/name_kind.h"
#include "trace/format/what.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

std::vector<uint8_t> FunctionLayers(const std::vector<trace::Name>& names) {
  std::vector<uint8_t> layers;
  for (const trace::Name& name : names) {
    if (name.kind != static_cast<uint32_t>(trace::NameKind::kFunction)) continue;
    if (name.id > trace::kMaxId) continue;
    if (name.id >= layers.size()) layers.resize(name.id + 1, 0);
    layers[name.id] =
        static_cast<uint8_t>(RankOfLayer(name.layer) | (IsCollection(name) ? kCollectionBit : 0));
  }
  return layers;
}

ThreadStates::ThreadStates(const ThreadContext& context, const ThreadInput& input, bool is_main,
                           uint32_t stream, const KeyLayout& layout)
    : StateStream(stream, layout, MakeState(kNoPath, kAbsent)),
      context_(context),
      input_(input),
      is_main_(is_main),
      operations_(input.thread, context.paths, context.losses, context.instances),
      calls_(input.thread, context.counts, NotesOfCalls(), context.losses),
      iteration_kinds_(*context.history) {}

// ---- what comes next ----------------------------------------------------------------------------

int64_t ThreadStates::NextChange() const {
  if (opened_) return std::min({next_item_, next_cuda_, next_edge_});
  int64_t first_ns = input_.first_ns;
  if (is_main_ && context_.input->python_begin_ns != ProcessInput::kUnknownTime) {
    first_ns = std::min(first_ns, context_.input->python_begin_ns);
  }
  const int64_t earliest_ns = std::max(context_.input->start_ns, Floor());
  return std::clamp(first_ns, earliest_ns, std::max(earliest_ns, context_.input->end_ns));
}

void ThreadStates::Open() {
  opened_ = true;
  if (input_.open_items) items_ = input_.open_items();
  if (input_.open_cuda_calls) OpenCudaCalls();
  LoadBatch();
  LoadCudaBatch();
  const ProcessInput& process = *context_.input;
  begin_ns_ = std::min(next_item_, next_cuda_);
  if (begin_ns_ == kNever) {
    ended_ = true;  // nothing could be decoded
    return;
  }
  if (is_main_ && process.python_begin_ns != ProcessInput::kUnknownTime) {
    begin_ns_ = std::min(begin_ns_, process.python_begin_ns);
  }
  begin_ns_ = std::max({begin_ns_, context_.history->start_ns(), Floor()});
  FindPythonTime();
  FindNextEdge();
}

// Other threads than the main one are known to the interpreter when they first record.
void ThreadStates::FindPythonTime() {
  const ProcessInput& process = *context_.input;
  if (!input_.is_python) return;
  const bool begin_known = is_main_ && process.python_begin_ns != ProcessInput::kUnknownTime;
  python_begin_ns_ = begin_known ? std::max(process.python_begin_ns, begin_ns_) : begin_ns_;
  if (process.python_end_ns != ProcessInput::kUnknownTime) python_end_ns_ = process.python_end_ns;
  if (python_end_ns_ <= python_begin_ns_) python_begin_ns_ = kNever;
}

void ThreadStates::FindNextEdge() {
  const std::vector<Window>& windows = context_.history->windows();
  next_edge_ = kNever;
  if (recording_) {
    const bool stops = window_ + 1 < windows.size() || context_.history->stopped();
    if (stops) next_edge_ = windows[window_].stop_ns;
  } else if (window_ < windows.size()) {
    next_edge_ = windows[window_].start_ns;
  }
  if (!alive_) next_edge_ = std::min(next_edge_, begin_ns_);
  if (alive_)
    next_edge_ = std::min(next_edge_, base_layer_ == 0 ? python_begin_ns_ : python_end_ns_);
}

void ThreadStates::Fill() {
  if (!opened_) Open();
  while (!Full()) {
    const int64_t now = std::min(next_item_, std::min(next_cuda_, next_edge_));
    if (now >= epoch_end()) {
      exhausted_ = true;
      return;
    }
    if (now == next_edge_) {
      ApplyEdge();
    } else if (in_cuda_call_ && now == next_cuda_) {
      EndCudaCall();
    } else if (now == next_item_) {
      if (!ApplyCalls()) ApplyItem();
    } else {
      StartCudaCall();
    }
  }
}

int64_t ThreadStates::Clamp(int64_t time_ns, int64_t earliest_ns) {
  const ProcessInput& process = *context_.input;
  const int64_t inside_ns = std::clamp(time_ns, process.start_ns, process.end_ns);
  const int64_t moved = std::max({earliest_ns, inside_ns, Floor()});
  context_.losses->clamped += moved != time_ns;
  return moved;
}

void ThreadStates::LoadBatch() {
  item_ = call_ = value_ = probe_ = 0;
  bool missing = false;
  while (items_ != nullptr) {
    batch_ = items_->Next();
    if (batch_ == nullptr) break;
    missing |= batch_->begins_after_gap;
    if (batch_->count == 0) continue;
    enter_snapshot_ = batch_->begins_after_gap;
    close_before_batch_ = missing && has_read_;
    has_read_ = true;
    next_item_ = close_before_batch_ ? items_end_ns_ : Clamp(batch_->time_ns[0], items_end_ns_);
    return;
  }
  next_item_ = kNever;
  if (items_ == nullptr || context_.input->unfinished) return;
  context_.losses->clamped += items_->clamped();
  context_.losses->undecodable_chunks += items_->undecodable_chunks();
  items_.reset();
}

void ThreadStates::LoadCudaBatch() {
  cuda_call_ = 0;
  while (cuda_calls_ != nullptr) {
    cuda_batch_ = cuda_calls_->Next();
    if (cuda_batch_ == nullptr) break;
    if (cuda_batch_->count == 0) continue;
    next_cuda_ = Clamp(cuda_batch_->start_ns[0], cuda_end_ns_);
    return;
  }
  next_cuda_ = kNever;
  if (cuda_calls_ == nullptr) return;
  context_.losses->clamped += cuda_calls_->clamped();
  context_.losses->undecodable_chunks += cuda_calls_->undecodable_chunks();
  cuda_calls_.reset();
}

void ThreadStates::NextCudaCall() {
  if (++cuda_call_ == cuda_batch_->count) return LoadCudaBatch();
  next_cuda_ = Clamp(cuda_batch_->start_ns[cuda_call_], cuda_end_ns_);
}

// ---- edges --------------------------------------------------------------------------------------

void ThreadStates::ApplyEdge() {
  const int64_t now = next_edge_;
  const std::vector<Window>& windows = context_.history->windows();
  if (recording_ && now == windows[window_].stop_ns &&
      (window_ + 1 < windows.size() || context_.history->stopped())) {
    if (alive_) CloseEverything(now, Ended::kWindow);
    recording_ = false;
    ++window_;
  } else if (!recording_ && window_ < windows.size() && now == windows[window_].start_ns) {
    recording_ = true;
  } else if (!alive_ && now == begin_ns_) {
    alive_ = true;
  } else if (now == python_begin_ns_) {
    base_layer_ = kPythonRank;
    python_begin_ns_ = kNever;
  } else {
    base_layer_ = 0;  // the interpreter was finalised
  }
  FindNextEdge();
  UpdateOperations(now);
}

void ThreadStates::CloseEverything(int64_t now, Ended ended) {
  operations_.CloseAll(now, ended);
  calls_.CloseAll(now);
  if (call_is_open_) {
    call_is_open_ = false;
    NextItem();
  }
  if (ended != Ended::kGap && in_cuda_call_) {
    LeaveCudaCall(now);
    NextCudaCall();
  }
  Update(now, false);
}

void ThreadStates::EndThread(int64_t now) {
  CloseEverything(now, Ended::kThreadEnd);
  alive_ = false;
  Update(now, false);
  NextItem();
  SkipRest();
}

void ThreadStates::Finish() {
  if (!opened_) Open();
  if (ended_) return;
  operations_.CloseAll(context_.input->end_ns, Ended::kProcessEnd);
  calls_.CloseAll(context_.input->end_ns);
  SkipRest();
}

// Reads what comes after the last window or after the thread's end, for its losses only.
void ThreadStates::SkipRest() {
  ended_ = true;
  recording_ = false;
  while (next_item_ != kNever) ApplyItem();
  while (next_cuda_ != kNever) StartCudaCall();
  next_edge_ = kNever;
}

// ---- items --------------------------------------------------------------------------------------

void ThreadStates::ApplyItem() {
  const int64_t now = next_item_;
  if (call_is_open_) {
    call_is_open_ = false;
    calls_.End(now);
    Update(now, false);
    return NextItem();
  }
  if (close_before_batch_) {
    close_before_batch_ = false;
    if (recording_) CloseEverything(now, Ended::kGap);
    next_item_ = Clamp(batch_->time_ns[0], now);
    return;
  }
  if (enter_snapshot_) EnterSnapshot(now);
  const uint32_t what = batch_->what[item_];
  const uint32_t kind = trace::WhatKind(what);
  if (kind == trace::kThreadEnd && !ended_) return EndThread(now);
  if (kind == trace::kCall) return ApplyCall(trace::WhatId(what), now);
  if (trace::IsOfProbe(kind)) TakeProbe(kind, trace::WhatId(what));
  if (recording_) {
    const uint32_t before = context_.record_notes ? State() : 0;
    ApplyRecorded(kind, trace::WhatId(what), now);
    if (context_.record_notes) NoteRecord(kind, trace::WhatId(what), before, now);
  } else if (kind == trace::kAutoSegment || kind == trace::kAutoResolve) {
    GetAutomatic()->Skip();
  }
  value_ += trace::HasTwoSlots(kind);
  NextItem();
}

void ThreadStates::ApplyRecorded(uint32_t kind, uint32_t id, int64_t now) {
  const uint32_t before = Layer();
  switch (kind) {
    case trace::kOperationEnter:
      operations_.Enter(id, now);
      return UpdateOperations(now);
    case trace::kOperationExit:
      operations_.Exit(id, now);
      return UpdateOperations(now);
    case trace::kTask:
      operations_.SwitchTask(id, now);
      return UpdateOperations(now);
    case trace::kCallBegin:
      calls_.Begin(id, CodeOf(id), operations_.path(), now);
      if (!IsFrameOfItsOwn(CodeOf(id))) CountTransition(before, now);
      return Update(now, KeyIsDue());
    case trace::kCallEnd:
      calls_.End(now);
      return Update(now, false);
    case trace::kCallbackBegin:
      calls_.BeginCallback(now);
      CountTransition(before, now);
      return Update(now, false);
    case trace::kCallbackEnd:
      calls_.EndCallback(now);
      return Update(now, false);
    case trace::kGap:
      return CloseEverything(now, Ended::kGap);
    case trace::kAutoSegment:
    case trace::kAutoResolve:
      return ApplyAutomatic(now);
  }
}

AutomaticTrack* ThreadStates::GetAutomatic() {
  if (automatic_ == nullptr) {
    automatic_ =
        std::make_unique<AutomaticTrack>(input_.open_items(), *context_.input, *context_.history);
    if (entered_before_) automatic_->NoteExplicit();
  }
  return automatic_.get();
}

void ThreadStates::ApplyAutomatic(int64_t now) {
  const AutomaticTrack::Change change = GetAutomatic()->Next();
  if (!change.any) return;
  operations_.SetAutomatic(change.operation, change.begins, now);
  UpdateOperations(now);
}

void ThreadStates::ApplyCall(uint32_t function, int64_t now) {
  const int64_t end_ns = Clamp(batch_->call_end_ns[call_], now);
  const bool is_own = IsFrameOfItsOwn(CodeOf(function));
  const uint32_t outside = context_.record_notes ? State() : 0;
  if (!recording_ || (calls_.in_call() && !is_own)) {
    if (recording_ && context_.record_notes) PushCallRecord(function, outside, outside, now);
    next_item_ = end_ns;
    return NextItem();
  }
  const uint32_t before = Layer();
  calls_.Begin(function, CodeOf(function), operations_.path(), now);
  if (!is_own) CountTransition(before, now);
  if (context_.record_notes) PushCallRecord(function, State(), outside, now);
  Update(now, KeyIsDue());
  call_is_open_ = true;
  next_item_ = end_ns;
}

void ThreadStates::EnterSnapshot(int64_t now) {
  enter_snapshot_ = false;
  if (!recording_) return;
  for (const trace::CpuBatch::Open& open : batch_->open) {
    operations_.SwitchTask(open.task, now);
    operations_.Enter(open.name, now);
  }
  if (batch_->task != trace::kUnknownTask) operations_.SwitchTask(batch_->task, now);
  UpdateOperations(now);
}

// ---- CUDA calls ---------------------------------------------------------------------------------

void ThreadStates::OpenCudaCalls() {
  trace::Detail detail = trace::Detail::kTimes;
  if (context_.record_notes) detail = trace::Detail::kNames;
  if (context_.cuda_notes || context_.reasons != nullptr) detail = trace::Detail::kAll;
  cuda_calls_ = input_.open_cuda_calls(detail);
}

void ThreadStates::StartCudaCall() {
  const int64_t now = next_cuda_;
  cuda_end_ns_ = Clamp(cuda_batch_->end_ns[cuda_call_], now);
  if (!recording_) return NextCudaCall();
  const uint32_t before = Layer();
  const uint32_t outside = context_.record_notes ? State() : 0;
  in_cuda_call_ = true;
  if (context_.reasons != nullptr) {
    cuda_reason_ = context_.reasons->OfCudaCall(
        cuda_batch_->name[cuda_call_], cuda_batch_->correlation[cuda_call_], &cuda_reasons_);
  }
  calls_.SetInCudaCall(true, now);
  next_cuda_ = cuda_end_ns_;
  CountTransition(before, now);
  if (context_.record_notes) {
    PushRecord(context_.cuda_kinds.Of(cuda_batch_->name[cuda_call_]), State(), outside, now);
  }
  if (context_.cuda_notes) {
    const uint32_t i = cuda_call_;
    cuda_notes_.Push({now, true, cuda_batch_->name[i], operations_.path(), cuda_batch_->status[i],
                      cuda_batch_->correlation[i], SiteOf(*cuda_batch_, i)});
  }
  Update(now, context_.cuda_notes);
}

void ThreadStates::EndCudaCall() {
  const int64_t now = next_cuda_;
  LeaveCudaCall(now);
  Update(now, false);
  NextCudaCall();
}

void ThreadStates::LeaveCudaCall(int64_t now) {
  in_cuda_call_ = false;
  calls_.SetInCudaCall(false, now);
  if (context_.cuda_notes) cuda_notes_.Push({now, false, 0, 0, 0, 0, 0});
}

// ---- state --------------------------------------------------------------------------------------

uint32_t ThreadStates::Layer() const { return in_cuda_call_ ? kCudaApiRank : CallLayer(); }

void ThreadStates::CountTransition(uint32_t from_layer, int64_t now) {
  if (context_.counts == nullptr) return;
  context_.counts->AddTransition(operations_.path(), from_layer, Layer(),
                                 iteration_kinds_.KindAt(now));
}

void ThreadStates::Update(int64_t now, bool note) {
  uint32_t state = MakeState(kNoPath, kAbsent);
  if (alive_) {
    state = recording_ ? MakeState(operations_.path(), Layer()) : MakeState(kNotRecordedPath, 0);
  }
  Emit(now, state, HasReasonChanged(now) || note);
}

Reason ThreadStates::reason() const {
  if (!alive_ || !recording_) return Reason::kNone;
  if (in_cuda_call_) return cuda_reason_;
  return calls_.in_call() ? context_.reasons->OfFunction(calls_.function()) : Reason::kNone;
}

bool ThreadStates::HasReasonChanged(int64_t now) {
  if (context_.reasons == nullptr || reason() == noted_reason_) return false;
  noted_reason_ = reason();
  reason_notes_.Push({now, noted_reason_});
  return true;
}

void ThreadStates::UpdateOperations(int64_t now) {
  const uint64_t entry = operations_.outermost_entry();
  const bool note = entry != outermost_entry_ && entry != 0;
  outermost_entry_ = entry;
  if (note) {
    notes_.Push({now, operations_.outermost_begin_ns(), operations_.outermost_path()});
  }
  Update(now, note);
}

}  // namespace rlscope::analysis
