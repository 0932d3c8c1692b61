// The states of one thread, from its items and CUDA calls: which operation, which layer. The only
// place that knows what the kinds of items mean to a thread.
#ifndef RLSCOPE_ANALYSIS_THREADS_THREAD_STATES_H_
#define RLSCOPE_ANALYSIS_THREADS_THREAD_STATES_H_

#include <stdint.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "analysis/keys/operation_paths.h"
#include "analysis/keys/state_stream.h"
#include "analysis/process/history.h"
#include "analysis/process/iteration_kinds.h"
#include "analysis/process/losses.h"
#include "analysis/process/source.h"
#include "analysis/threads/automatic_track.h"
#include "analysis/threads/call_counts.h"
#include "analysis/threads/call_row.h"
#include "analysis/threads/call_stack.h"
#include "analysis/threads/collections.h"
#include "analysis/threads/cuda_call_kinds.h"
#include "analysis/threads/notes.h"
#include "analysis/threads/operation_stack.h"
#include "analysis/threads/probes.h"
#include "analysis/threads/reasons.h"
#include "trace/format/what.h"

namespace rlscope::analysis {

// Common to the threads of one process during a sweep.
struct ThreadContext {
  const ProcessInput* input;
  const History* history;
  OperationPaths* paths;
  Losses* losses;
  CallCounts* counts;                      // null: calls and transitions are not counted
  InstanceSink* instances;                 // null: instances are only counted, by path
  std::vector<uint8_t> layer_of_function;  // by name id
  bool cuda_notes = false;                 // of each CUDA call, which costs more time
  bool record_notes = false;               // of each record
  FoundProbes* probes = nullptr;           // null: probes are nothing
  CudaCallKinds cuda_kinds = {};           // for record_notes
  const Reasons* reasons = nullptr;        // null: no notes of reasons
};

// Ranks of the layers of the functions among `names`, by id; and which are collections
// (collections.h).
std::vector<uint8_t> FunctionLayers(const std::vector<trace::Name>& names);

class ThreadStates : public StateStream {
 public:
  // `is_main`: the process's main thread, which lives from python_begin_ns on.
  ThreadStates(const ThreadContext& context, const ThreadInput& input, bool is_main,
               uint32_t stream, const KeyLayout& layout);

  int64_t NextChange() const override;
  // Everything was read: closes what is open, at the end of the process.
  void Finish();

  uint32_t thread() const { return input_.thread; }
  // Only between epochs.
  void Carry(trace::Archive* archive);
  // Whether the chunk was read to its end.
  bool IsBehind(const trace::ChunkPlace& chunk) const;
  // Native calls that are open, and began with a note.
  size_t notes_open() const { return calls_.notes_open(); }

  OutermostNotes* notes() { return &notes_; }
  CallNotes* call_notes() { return &call_notes_; }
  CudaNotes* cuda_notes() { return &cuda_notes_; }
  RecordNotes* record_notes() { return &record_notes_; }
  ReasonNotes* reason_notes() { return &reason_notes_; }
  // What the thread is in, if there are notes of reasons. kNone: what its layer says.
  Reason reason() const;

 private:
  void Fill() override;

  // What happens next, in this order at one time.
  void ApplyEdge();
  void EndCudaCall();
  void ApplyItem();
  void StartCudaCall();
  void LeaveCudaCall(int64_t now);

  // The same for the common stretch (thread_states_calls.cc): complete native calls in a row, each
  // with the CUDA calls inside. False: the next item is none such.
  bool ApplyCalls();
  bool CallsAreNext() const;
  CallRow BeginCallRow(int64_t limit_ns) const;
  template <class Counter>
  bool WriteCallRow(Counter counter, int64_t limit_ns);
  template <class Counter>
  bool WriteCounted(Counter counter, int64_t limit_ns);
  bool EndCallRow(const CallRow& row);

  void Open();
  void CarryItems(trace::Archive* archive);
  void ResumeItems(const trace::CursorPlace& place, trace::Archive* archive);
  void ResumeWait(const trace::ChunkPlace& last);
  void ResumeEdges();
  void LoadBatch();
  void LoadCudaBatch();
  void NextItem() {
    items_end_ns_ = next_item_;
    call_ += trace::WhatKind(batch_->what[item_]) == trace::kCall;
    if (++item_ == batch_->count) return LoadBatch();
    const int64_t time_ns = batch_->time_ns[item_];
    const bool in_order = time_ns >= items_end_ns_ && time_ns <= context_.input->end_ns;
    next_item_ = in_order ? time_ns : Clamp(time_ns, items_end_ns_);
  }
  void NextCudaCall();
  void OpenCudaCalls();
  int64_t Clamp(int64_t time_ns, int64_t earliest_ns);
  // Nothing happens before: another sweep has passed.
  int64_t Floor() const { return std::min(context_.input->saved_until_ns, context_.input->end_ns); }

  void ApplyRecorded(uint32_t kind, uint32_t id, int64_t now);
  void ApplyCall(uint32_t function, int64_t now);
  void ApplyAutomatic(int64_t now);
  AutomaticTrack* GetAutomatic();
  void EnterSnapshot(int64_t now);
  void CloseEverything(int64_t now, Ended ended);
  void EndThread(int64_t now);
  void SkipRest();
  void FindPythonTime();
  void FindNextEdge();

  // What counts of the records themselves (thread_states_records.cc).
  void NoteRecord(uint32_t kind, uint32_t id, uint32_t before, int64_t now);
  void PushRecord(RecordKind kind, uint32_t inside, uint32_t outside, int64_t now) {
    record_notes_.Push({now, inside, outside, 1, kind});
  }
  void PushCallRecord(uint32_t function, uint32_t inside, uint32_t outside, int64_t now);
  uint32_t ValueAsCount() const;
  void TakeProbe(uint32_t kind, uint32_t id);

  uint32_t CodeOf(uint32_t function) const {
    const std::vector<uint8_t>& layers = context_.layer_of_function;
    return function < layers.size() ? layers[function] : 0;
  }
  uint32_t LayerOf(uint32_t function) const { return RankOfFunction(CodeOf(function)); }
  bool HasReasonChanged(int64_t now);
  // Outside CUDA calls.
  uint32_t CallLayer() const { return calls_.empty() ? base_layer_ : calls_.layer(); }
  uint32_t Layer() const;
  uint32_t State() const { return MakeState(operations_.path(), Layer()); }
  void CountTransition(uint32_t from_layer, int64_t now);
  // Where calls without an operation go. The operation of the main thread's calls is known.
  CallNotes* NotesOfCalls() { return is_main_ ? nullptr : &call_notes_; }
  // A call into the layer where the thread already is makes no key, only notes. After a block's
  // worth of notes a key is due, so that they are taken.
  bool KeyIsDue() const { return call_notes_.size() >= kBlockKeys; }
  // The state may have changed at `now`.
  void Update(int64_t now, bool note);
  // The same when it may be another operation that is outermost.
  void UpdateOperations(int64_t now);

  const ThreadContext& context_;
  const ThreadInput& input_;
  const bool is_main_;
  OutermostNotes notes_;
  CallNotes call_notes_;
  CudaNotes cuda_notes_;
  RecordNotes record_notes_;
  ReasonNotes reason_notes_;
  OperationStack operations_;
  std::unique_ptr<AutomaticTrack> automatic_;  // only of a thread that has such records
  CallStack calls_;
  IterationKinds iteration_kinds_;

  // Next in the thread's own streams; kNever when there is nothing more.
  int64_t next_item_ = kNever;  // the item, or the end of the complete call that is open
  int64_t next_cuda_ = kNever;  // start, or end if in_cuda_call_
  int64_t next_edge_ = kNever;  // life, window or interpreter

  std::unique_ptr<CpuSource> items_;
  const trace::CpuBatch* batch_ = nullptr;
  uint32_t item_ = 0;
  uint32_t call_ = 0;
  uint32_t value_ = 0;               // next of the batch's values
  uint32_t probe_ = 0;               // next of the batch's probes and their calls
  uint64_t probe_inside_ticks_ = 0;  // what the next probe recorded
  bool has_read_ = false;            // some batch
  bool call_is_open_ = false;        // a complete call, begun and to end at next_item_
  // Chunks are missing before the batch: close what is open, at the end of the last item (which is
  // next_item_ then); at the first item, enter what the chunk's header says was open.
  bool close_before_batch_ = false;
  bool enter_snapshot_ = false;
  int64_t items_end_ns_ = INT64_MIN;  // of the last item

  std::unique_ptr<CudaCallSource> cuda_calls_;
  const trace::CudaCallBatch* cuda_batch_ = nullptr;
  uint32_t cuda_call_ = 0;
  bool in_cuda_call_ = false;
  CudaReasons cuda_reasons_;
  Reason cuda_reason_ = Reason::kNone;  // of the CUDA call
  Reason noted_reason_ = Reason::kNone;
  int64_t cuda_end_ns_ = INT64_MIN;  // of the last CUDA call

  bool entered_before_ = false;  // an operation, in a part that another sweep has read
  bool opened_ = false;
  bool alive_ = false;
  bool ended_ = false;
  bool recording_ = false;
  size_t window_ = 0;  // that is open, or the next to begin
  int64_t begin_ns_ = kNever;
  int64_t python_begin_ns_ = kNever;  // still to come
  int64_t python_end_ns_ = kNever;
  uint32_t base_layer_ = 0;  // outside calls
  uint64_t outermost_entry_ = 0;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_THREAD_STATES_H_
