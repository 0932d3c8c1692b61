// The common stretch of a thread: complete native calls in a row. What follows from
// thread_states.cc for such calls, in one pass that keeps its state in registers (half of the time
// of a sweep went into the general way).
#include <algorithm>

#include "analysis/threads/call_row.h"
#include "analysis/threads/thread_states.h"
#include "trace/format/what.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {
namespace {

struct NoCounter {
  static constexpr bool kTakesCudaCalls = false;
  bool NeedsKey(uint32_t) const { return false; }
  void Add(uint32_t, uint32_t, int64_t, int64_t, uint32_t, int64_t) {}
};

// Notes of the records of a row, beside what another counter counts.
template <class Counter>
struct RecordCounter {
  static constexpr bool kTakesCudaCalls = true;
  Counter counter;
  RecordNotes* notes;
  uint32_t path;
  uint32_t outside;
  const CudaCallKinds& cuda_kinds;
  const uint32_t* cuda_names;  // by place in the batch; null: no CUDA call is left

  bool NeedsKey(uint32_t layer) const { return counter.NeedsKey(layer); }
  void Add(uint32_t function, uint32_t layer, int64_t start_ns, int64_t duration_ns,
           uint32_t cuda_calls, int64_t cuda_ns) {
    counter.Add(function, layer, start_ns, duration_ns, cuda_calls, cuda_ns);
    notes->Push({start_ns, MakeState(path, layer), outside, 1, RecordKind::kNativeCall});
  }
  void AddCuda(uint32_t layer, uint32_t at, int64_t start_ns) {
    notes->Push({start_ns, MakeState(path, CallRow::kCudaApi), MakeState(path, layer), 1,
                 cuda_kinds.Of(cuda_names[at])});
  }
};

// Transitions and native calls of a row of calls.
struct CallCounter {
  static constexpr bool kTakesCudaCalls = false;
  uint32_t thread;
  CallCounts* counts;
  CallNotes* notes;  // of calls whose operation is the owner's; null: all calls have their own
  uint32_t path;
  uint32_t outer_layer;
  IterationKind in;  // the same for all of the row
  uint64_t* transitions = counts->TransitionsOf(path, in);
  bool is_own = notes == nullptr || IsOperation(path);

  // Notes are taken when a key comes, which a call in the layer around it may not have.
  bool NeedsKey(uint32_t layer) const { return !is_own && layer == outer_layer; }

  void Add(uint32_t function, uint32_t layer, int64_t start_ns, int64_t duration_ns,
           uint32_t cuda_calls, int64_t cuda_ns) {
    transitions[outer_layer * kLayers + layer] += outer_layer != layer;
    transitions[layer * kLayers + CallRow::kCudaApi] += layer != CallRow::kCudaApi ? cuda_calls : 0;
    if (is_own) {
      counts->AddCall({thread, function, path, start_ns, duration_ns, duration_ns - cuda_ns});
    } else {
      notes->Push({start_ns, CallNote::Kind::kWhole, function, duration_ns, duration_ns - cuda_ns});
    }
  }
};

}  // namespace

// CUDA calls of which notes are to be taken go the general way, and so do calls with notes of
// reasons. Inlined, or each row of calls has a
// call of this.
[[gnu::always_inline]] inline bool ThreadStates::CallsAreNext() const {
  return context_.reasons == nullptr && (!context_.cuda_notes || next_cuda_ == kNever) &&
         recording_ && alive_ && !call_is_open_ && !in_cuda_call_ && !close_before_batch_ &&
         !enter_snapshot_ && !calls_.in_call() &&
         trace::WhatKind(batch_->what[item_]) == trace::kCall;
}

// A row is a few calls long between two operations, so that both ends of it count: inlined, they
// need no row in memory (a fifth of the time of a row).
[[gnu::always_inline]] inline CallRow ThreadStates::BeginCallRow(int64_t limit_ns) const {
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
          std::min({next_edge_, epoch_end(), context_.input->end_ns, limit_ns}),
          limit_,
          context_.layer_of_function.data(),
          context_.layer_of_function.size()};
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

template <class Counter>
bool ThreadStates::WriteCallRow(Counter counter, int64_t limit_ns) {
  if (!context_.record_notes) return WriteCounted(counter, limit_ns);
  const uint32_t path = operations_.path();
  const uint32_t* const cuda_names = next_cuda_ == kNever ? nullptr : cuda_batch_->name;
  return WriteCounted(
      RecordCounter<Counter>{counter, &record_notes_, path, MakeState(path, CallLayer()),
                             context_.cuda_kinds, cuda_names},
      limit_ns);
}

template <class Counter>
bool ThreadStates::WriteCounted(Counter counter, int64_t limit_ns) {
  CallRow row = BeginCallRow(limit_ns);
  do {
    row.WriteCommon(&counter);
  } while (row.IsNext() && row.WriteOne(&counter));
  return EndCallRow(row);
}

bool ThreadStates::ApplyCalls() {
  if (!CallsAreNext()) return false;
  if (context_.counts == nullptr) return WriteCallRow(NoCounter{}, kNever);
  const IterationKind in = iteration_kinds_.KindAt(next_item_);
  return WriteCallRow(CallCounter{input_.thread, context_.counts, NotesOfCalls(),
                                  operations_.path(), CallLayer(), in},
                      iteration_kinds_.Until(next_item_));
}

}  // namespace rlscope::analysis
