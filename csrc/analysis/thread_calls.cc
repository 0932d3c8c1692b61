// The common stretch of a thread: complete native calls in a row. What follows from
// thread_states.cc for such calls, in one pass that keeps its state in registers (half of the time
// of a sweep went into the general way).
#include <algorithm>

#include "analysis/thread_states.h"
#include "trace/record.h"

namespace rlscope::analysis {
namespace {

constexpr uint32_t kCudaApi = static_cast<uint32_t>(trace::Layer::kCudaApi);

// The CUDA calls of a thread from some call on. Its first one begins at start_ns; the last of a
// batch is left to the general way, because the next batch says when the one after it begins.
struct CudaCalls {
  const int64_t* starts_ns = nullptr;
  const int64_t* ends_ns = nullptr;
  uint32_t last = 0;  // of the batch
  uint32_t at = 0;
  int64_t start_ns = kNever;
  int64_t end_ns = 0;  // of the one before

  // Writes those that begin before `call_end_ns`. False when one is not wholly inside, or has no
  // room.
  bool Emit(int64_t call_end_ns, uint32_t state, uint32_t state_in_cuda, const uint64_t* limit,
            KeyWriter* writer, int64_t* cuda_ns) {
    while (start_ns < call_end_ns) {
      if (at == last || writer->end >= limit) return false;
      end_ns = ends_ns[at];
      const int64_t next_ns = starts_ns[++at];
      if (end_ns < start_ns || end_ns > call_end_ns || next_ns < end_ns) return false;
      writer->EmitLayer(start_ns, state_in_cuda);
      writer->EmitLayer(end_ns, state);
      *cuda_ns += end_ns - start_ns;
      start_ns = next_ns;
    }
    return true;
  }
};

}  // namespace

// Complete calls in a row, from the next item on. All in registers while the row is written.
struct ThreadStates::CallRow {
  // The batch of items.
  const int64_t* times_ns;
  const uint32_t* what;
  const int64_t* ends_ns;
  uint32_t last;  // item of the batch: left to the general way

  uint32_t item;
  uint32_t call;
  int64_t start_ns;
  CudaCalls cuda;
  KeyWriter writer;

  // The same for all calls.
  uint32_t path;          // of the thread, and
  uint32_t outside;       // its state outside
  int64_t limit_ns;       // calls end before it
  const uint64_t* limit;  // of the writer

  bool IsNext() const { return item < last && trace::WhatKind(what[item]) == trace::kCall; }
  int64_t end_ns() const { return ends_ns[call]; }
  int64_t next_ns() const { return times_ns[item + 1]; }
  uint32_t function() const { return trace::WhatId(what[item]); }

  // Writes the call that is next. False, with nothing done, when it is not as simple: cut by an
  // edge, by the end of the epoch or of the block, out of order, or with CUDA calls before it or
  // not wholly inside.
  bool Write(uint32_t layer, int64_t* cuda_ns) {
    const int64_t end_ns = this->end_ns();
    if (start_ns > end_ns || start_ns > cuda.start_ns || end_ns >= limit_ns || next_ns() < end_ns ||
        writer.end >= limit) {
      return false;
    }
    const uint32_t state = MakeState(path, layer);
    if (end_ns <= cuda.start_ns) {
      writer.EmitLayer(start_ns, state);
    } else if (!WriteWithCuda(end_ns, state, cuda_ns)) {
      return false;
    }
    writer.EmitLayer(end_ns, outside);
    return true;
  }

  // All but the end.
  bool WriteWithCuda(int64_t end_ns, uint32_t state, int64_t* cuda_ns) {
    const KeyWriter writer_before = writer;
    const CudaCalls cuda_before = cuda;
    writer.EmitLayer(start_ns, state);
    if (cuda.Emit(end_ns, state, MakeState(path, kCudaApi), limit, &writer, cuda_ns)) return true;
    writer = writer_before;
    cuda = cuda_before;
    return false;
  }

  void Next() {
    start_ns = next_ns();
    ++item;
    ++call;
  }
};

bool ThreadStates::CallsAreNext() const {
  return recording_ && alive_ && !call_is_open_ && !in_cuda_call_ && !close_before_batch_ &&
         !enter_snapshot_ && !calls_.in_call() &&
         trace::WhatKind(batch_->what[item_]) == trace::kCall;
}

// A row is a few calls long between two operations, so that both ends of it count: inlined, they
// need no row in memory (a fifth of the time of a row).
[[gnu::always_inline]] inline ThreadStates::CallRow ThreadStates::BeginCallRow() const {
  CudaCalls cuda;
  if (next_cuda_ != kNever) {
    cuda = {
        cuda_batch_->start_ns, cuda_batch_->end_ns, cuda_batch_->count - 1, cuda_call_, next_cuda_,
        cuda_end_ns_};
  }
  const uint32_t path = operations_.path();
  return {batch_->time_ns,
          batch_->what,
          batch_->call_end_ns,
          batch_->count - 1,
          item_,
          call_,
          next_item_,
          cuda,
          writer_,
          path,
          MakeState(path, CallLayer()),
          std::min({next_edge_, epoch_end(), context_.input->end_ns}),
          limit_};
}

// False: nothing was written.
[[gnu::always_inline]] inline bool ThreadStates::EndCallRow(const CallRow& row) {
  if (row.item == item_) return false;
  writer_ = row.writer;
  item_ = row.item;
  call_ = row.call;
  items_end_ns_ = row.ends_ns[row.call - 1];
  next_item_ = Clamp(row.start_ns, items_end_ns_);
  if (next_cuda_ == kNever || row.cuda.at == cuda_call_) return true;
  cuda_call_ = row.cuda.at;
  cuda_end_ns_ = row.cuda.end_ns;
  next_cuda_ = Clamp(row.cuda.start_ns, cuda_end_ns_);
  return true;
}

bool ThreadStates::WriteCallRow() {
  CallRow row = BeginCallRow();
  const uint8_t* const layers = context_.layer_of_function.data();
  const size_t functions = context_.layer_of_function.size();
  int64_t cuda_ns = 0;
  while (row.IsNext()) {
    const uint32_t function = row.function();
    if (!row.Write(function < functions ? layers[function] : 0, &cuda_ns)) break;
    row.Next();
  }
  return EndCallRow(row);
}

bool ThreadStates::CountCallRow() {
  CallRow row = BeginCallRow();
  const bool is_operation = IsOperation(row.path);
  const uint32_t before_layer = FieldOf(row.outside);
  uint64_t* const transitions = context_.counts->TransitionsOf(row.path);
  while (row.IsNext()) {
    const uint32_t function = row.function();
    const uint32_t layer = LayerOf(function);
    const uint32_t first_cuda_call = row.cuda.at;
    int64_t cuda_ns = 0;
    if ((!is_operation && layer == before_layer) || !row.Write(layer, &cuda_ns)) break;
    const int64_t duration_ns = row.end_ns() - row.start_ns;
    transitions[before_layer * kLayers + layer] += before_layer != layer;
    transitions[layer * kLayers + kCudaApi] +=
        layer != kCudaApi ? row.cuda.at - first_cuda_call : 0;
    if (is_operation) {
      context_.counts->AddCall(function, row.path, duration_ns, duration_ns - cuda_ns);
    } else {
      call_notes_.Push(
          {row.start_ns, CallNote::Kind::kWhole, function, duration_ns, duration_ns - cuda_ns});
    }
    row.Next();
  }
  return EndCallRow(row);
}

bool ThreadStates::ApplyCalls() {
  if (!CallsAreNext()) return false;
  return context_.counts == nullptr ? WriteCallRow() : CountCallRow();
}

}  // namespace rlscope::analysis
