#include "analysis/threads/call_stack.h"

#include "analysis/keys/layer_ranks.h"
#include "analysis/keys/operation_paths.h"
#include "analysis/threads/collections.h"

namespace rlscope::analysis {

void CallStack::Begin(uint32_t function, uint32_t layer, uint32_t path, int64_t now) {
  const bool is_wait = layer == kWaitRank;
  if (in_call() && !IsFrameOfItsOwn(layer)) {
    ++frames_.back().inner_calls;
    return;
  }
  ChargeInnermost(now);
  const bool has_note = counts_ != nullptr && notes_ != nullptr && !IsOperation(path) && !is_wait;
  if (has_note) notes_->Push({now, CallNote::Kind::kBegan, function, 0, 0});
  frames_.push_back({false, has_note, RankOfFunction(layer), function, path, 0, now, 0});
}

void CallStack::End(int64_t now) {
  if (!Contains(/*is_callback=*/false)) {
    ++losses_->call_end_without_begin;
    return;
  }
  ChargeInnermost(now);
  while (!in_call()) {
    ++losses_->clamped;
    Pop(now);
  }
  if (frames_.back().inner_calls > 0) {
    --frames_.back().inner_calls;
    return;
  }
  Pop(now);
}

void CallStack::BeginCallback(int64_t now) {
  ChargeInnermost(now);
  frames_.push_back({true, false, kPythonRank, 0, 0, 0, now, 0});
}

void CallStack::EndCallback(int64_t now) {
  if (!Contains(/*is_callback=*/true)) {
    ++losses_->call_end_without_begin;
    return;
  }
  ChargeInnermost(now);
  while (in_call()) {
    losses_->clamped += 1 + frames_.back().inner_calls;
    Pop(now);
  }
  Pop(now);
}

void CallStack::CloseAll(int64_t now) {
  ChargeInnermost(now);
  while (!frames_.empty()) Pop(now);
}

void CallStack::SetInCudaCall(bool in_cuda_call, int64_t now) {
  ChargeInnermost(now);
  in_cuda_call_ = in_cuda_call;
}

void CallStack::ChargeInnermost(int64_t now) {
  if (in_call() && !in_cuda_call_) frames_.back().self_ns += now - charged_ns_;
  charged_ns_ = now;
}

void CallStack::Pop(int64_t now) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (counts_ == nullptr) return;
  const int64_t duration_ns = now - frame.start_ns;
  if (frame.is_callback) {
    counts_->AddCallback(thread_, frame.start_ns, duration_ns);
  } else if (frame.has_note) {
    notes_->Push({now, CallNote::Kind::kEnded, frame.function, duration_ns, frame.self_ns});
  } else {
    const NativeCall call = {thread_,        frame.function, frame.path,
                             frame.start_ns, duration_ns,    frame.self_ns};
    frame.layer == kWaitRank ? counts_->AddWait(call) : counts_->AddCall(call);
  }
}

bool CallStack::Contains(bool is_callback) const {
  for (size_t i = frames_.size(); i-- > 0;) {
    if (frames_[i].is_callback == is_callback) return true;
  }
  return false;
}

void CallStack::Carry(trace::Archive* archive, uint32_t paths) {
  frames_.resize(archive->Count(frames_.size()));
  for (Frame& frame : frames_) {
    archive->Number(&frame.is_callback);
    archive->Number(&frame.has_note);
    archive->Below(&frame.layer, kLayers);
    archive->Number(&frame.function);
    archive->Below(&frame.path, paths);
    archive->Number(&frame.inner_calls);
    archive->Time(&frame.start_ns);
    archive->Sum(&frame.self_ns);
    if (frame.has_note && notes_ == nullptr) archive->Fail();
  }
  archive->Time(&charged_ns_);
}

size_t CallStack::notes_open() const {
  size_t count = 0;
  for (const Frame& frame : frames_) count += frame.has_note;
  return count;
}

}  // namespace rlscope::analysis
