// The common stretch of a thread: complete native calls in a row. What follows from
// thread_states.cc for such calls, in one pass that keeps its state in registers (half of the time
// of a sweep went into the general way).
#include <algorithm>

#include "analysis/thread_states.h"
#include "trace/record.h"

namespace rlscope::analysis {
namespace {

constexpr uint32_t kCudaApi = static_cast<uint32_t>(trace::Layer::kCudaApi);

}  // namespace

struct ThreadStates::WholeCall {
  uint32_t path;          // of the thread, and
  uint32_t before_layer;  // its layer outside
  uint32_t function;
  uint32_t layer;
  int64_t start_ns;
  int64_t end_ns;
  // The CUDA calls inside.
  uint32_t cuda_calls;
  int64_t cuda_ns;
  int64_t cuda_end_ns;   // of the last one
  int64_t next_cuda_ns;  // start of the one after them
};

bool ThreadStates::CallsAreNext() const {
  return recording_ && !call_is_open_ && !in_cuda_call_ && !close_before_batch_ &&
         !enter_snapshot_ && !calls_.in_call();
}

bool ThreadStates::ApplyCalls() {
  if (!CallsAreNext()) return false;
  const int64_t limit_ns = std::min(next_edge_, epoch_end());
  WholeCall call{};
  call.path = operations_.path();
  call.before_layer = CallLayer();
  KeyWriter writer = writer_;
  bool any = false;
  while (trace::WhatKind(batch_->what[item_]) == trace::kCall) {
    if (!ApplyWholeCall(limit_ns, &writer, &call)) break;
    any = true;
    if (item_ == 0) break;  // another batch: it may begin after a gap
  }
  writer_ = writer;
  return any;
}

// False, with nothing done, when the call is not as simple: cut by an edge, the epoch's end or the
// block's, out of order, or with CUDA calls before it or not wholly inside.
inline bool ThreadStates::ApplyWholeCall(int64_t limit_ns, KeyWriter* writer, WholeCall* call) {
  call->start_ns = next_item_;
  call->end_ns = batch_->call_end_ns[call_];
  const bool in_order = call->start_ns <= call->end_ns && call->start_ns <= next_cuda_;
  if (!in_order || call->end_ns >= limit_ns || writer->end >= limit_) return false;
  call->function = trace::WhatId(batch_->what[item_]);
  call->layer = LayerOf(call->function);
  const KeyWriter before = *writer;
  const bool note = context_.counts != nullptr && !IsOperation(call->path);
  writer->Emit(call->start_ns, MakeState(call->path, call->layer), note);
  if (!EmitCudaCalls(writer, call)) {
    *writer = before;
    return false;
  }
  writer->EmitLayer(call->end_ns, MakeState(call->path, call->before_layer));
  if (context_.counts != nullptr) CountWholeCall(*call);
  next_item_ = call->end_ns;
  NextItem();
  return true;
}

inline bool ThreadStates::EmitCudaCalls(KeyWriter* writer, WholeCall* call) {
  const uint32_t state = MakeState(call->path, call->layer);
  const uint32_t state_in_cuda = MakeState(call->path, kCudaApi);
  uint32_t at = cuda_call_;
  int64_t start_ns = next_cuda_;
  int64_t end_ns = cuda_end_ns_;
  call->cuda_ns = 0;
  while (start_ns < call->end_ns) {
    if (at + 1 == cuda_batch_->count || writer->end >= limit_) return false;
    end_ns = cuda_batch_->end_ns[at];
    const int64_t next_ns = cuda_batch_->start_ns[at + 1];
    if (end_ns < start_ns || end_ns > call->end_ns || next_ns < end_ns) return false;
    writer->EmitLayer(start_ns, state_in_cuda);
    writer->EmitLayer(end_ns, state);
    call->cuda_ns += end_ns - start_ns;
    start_ns = next_ns;
    ++at;
  }
  if (at != cuda_call_ && start_ns > context_.input->end_ns) return false;
  call->cuda_calls = at - cuda_call_;
  cuda_call_ = at;
  next_cuda_ = start_ns;
  cuda_end_ns_ = end_ns;
  return true;
}

inline void ThreadStates::CountWholeCall(const WholeCall& call) {
  CallCounts* counts = context_.counts;
  counts->AddTransitions(call.path, call.before_layer, call.layer, 1);
  counts->AddTransitions(call.path, call.layer, kCudaApi, call.cuda_calls);
  const int64_t duration_ns = call.end_ns - call.start_ns;
  const int64_t self_ns = duration_ns - call.cuda_ns;
  if (IsOperation(call.path)) {
    counts->AddCall(call.function, call.path, duration_ns, self_ns);
  } else {
    notes_.Push({call.start_ns, Note::Kind::kCall, call.function, duration_ns, self_ns});
  }
}

}  // namespace rlscope::analysis
