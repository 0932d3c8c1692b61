// The native calls and callbacks that are open on one thread, and which layer it is in for their
// sake (docs/reference/semantics.md#threads-and-layers,
// docs/reference/semantics.md#calls-and-transitions; corners:
// docs/reference/semantics-notes.md#native-calls-and-transitions).
#ifndef RLSCOPE_ANALYSIS_THREADS_CALL_STACK_H_
#define RLSCOPE_ANALYSIS_THREADS_CALL_STACK_H_

#include <stdint.h>

#include <vector>

#include "analysis/process/losses.h"
#include "analysis/threads/call_counts.h"
#include "analysis/threads/notes.h"

namespace rlscope::analysis {

class CallStack {
 public:
  // `counts` may be null: then only layers are followed. Calls without an operation go to `notes`
  // instead, if that is not null.
  CallStack(uint32_t thread, CallCounts* counts, CallNotes* notes, Losses* losses)
      : thread_(thread), counts_(counts), notes_(notes), losses_(losses) {}
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;

  // Times never decrease from call to call. `layer` is what FunctionLayers() says of the function.
  // A wait and a collection are frames of their own even inside another call. A wait belongs to the
  // operation of its thread, which may be none.
  void Begin(uint32_t function, uint32_t layer, uint32_t path, int64_t now);
  void End(int64_t now);
  void BeginCallback(int64_t now);
  void EndCallback(int64_t now);
  void CloseAll(int64_t now);

  // A CUDA call of the thread begins or ends: time inside is not the native call's own.
  void SetInCudaCall(bool in_cuda_call, int64_t now);

  // A call that would begin now belongs to the outer one.
  bool in_call() const { return !frames_.empty() && !frames_.back().is_callback; }
  bool empty() const { return frames_.empty(); }
  // Rank of the innermost frame's layer; only when not empty.
  uint32_t layer() const { return frames_.back().layer; }
  // The function of the innermost call; only while in_call().
  uint32_t function() const { return frames_.back().function; }

  // What the innermost call was is known now.
  void SetFunction(uint32_t function) { frames_.back().function = function; }

  // `paths`: how many there are.
  void Carry(trace::Archive* archive, uint32_t paths);
  // Calls that are open, and began with a note.
  size_t notes_open() const;

 private:
  struct Frame {
    bool is_callback;
    bool has_note;
    uint32_t layer;
    uint32_t function;
    uint32_t path;
    uint32_t inner_calls;  // begun directly inside, still open
    int64_t start_ns;
    int64_t self_ns;
  };
  void ChargeInnermost(int64_t now);
  void Pop(int64_t now);
  bool Contains(bool is_callback) const;

  const uint32_t thread_;
  CallCounts* const counts_;
  CallNotes* const notes_;
  Losses* const losses_;
  std::vector<Frame> frames_;
  int64_t charged_ns_ = 0;
  bool in_cuda_call_ = false;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_CALL_STACK_H_
