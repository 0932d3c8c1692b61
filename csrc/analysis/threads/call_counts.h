// Counts of the sweep per call, not per nanosecond: transitions between layers, native calls by
// function and operation, waits by thread, function and operation (wait_sums.h)
// (docs/reference/semantics.md#calls-and-transitions, docs/reference/semantics.md#waits).
#ifndef RLSCOPE_ANALYSIS_THREADS_CALL_COUNTS_H_
#define RLSCOPE_ANALYSIS_THREADS_CALL_COUNTS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/keys/layer_ranks.h"
#include "analysis/process/history.h"
#include "analysis/spill/spill_table.h"
#include "analysis/threads/poll_series.h"
#include "analysis/threads/wait_sums.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

// Takes calls one by one, in place of the counts.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void AddCall(const NativeCall& call) = 0;
  virtual void AddWait(const NativeCall& wait) = 0;
  virtual void AddCallback(uint32_t thread, int64_t start_ns, int64_t duration_ns) = 0;
};

struct NativeCallRow {
  uint64_t key;  // (function << 32 | path) + 1
  uint64_t calls;
  int64_t duration_ns;
  int64_t self_ns;

  uint32_t function() const { return static_cast<uint32_t>((key - 1) >> 32); }
  uint32_t path() const { return static_cast<uint32_t>(key - 1); }
};

class CallCounts {
 public:
  // With a sink calls are given to it and not counted.
  explicit CallCounts(CallSink* sink = nullptr, PollNames polls = PollNames())
      : sink_(sink), waits_(std::move(polls)) {}
  // A call into the layer where the thread already is makes no transition. `in`: the kind of the
  // iteration that holds the time (iteration_kinds.h).
  void AddTransition(uint32_t path, uint32_t from_layer, uint32_t to_layer, IterationKind in) {
    if (from_layer == to_layer) return;
    ++TransitionsOf(path, in)[from_layer * kLayers + to_layer];
  }
  // Those of one path, [from][to]. Valid until the next call with another path.
  uint64_t* TransitionsOf(uint32_t path, IterationKind in) {
    const size_t first = FirstOf(path, in);
    if (first >= transitions_.size()) transitions_.resize(2 * first + kOfPath);
    return &transitions_[first];
  }
  uint64_t transitions(uint32_t path, uint32_t from_layer, uint32_t to_layer,
                       IterationKind in) const {
    const size_t at = FirstOf(path, in) + from_layer * kLayers + to_layer;
    return at < transitions_.size() ? transitions_[at] : 0;
  }
  // What was counted in the iteration that ran turns out to be of another kind.
  void SettleRunning(IterationKind kind);

  void AddCall(const NativeCall& call) {
    if (__builtin_expect(sink_ != nullptr, 0)) return sink_->AddCall(call);
    NativeCallRow* row = native_calls_.FindOrAdd((uint64_t{call.function} << 32 | call.path) + 1);
    ++row->calls;
    row->duration_ns += call.duration_ns;
    row->self_ns += call.self_ns;
  }
  void AddWait(const NativeCall& wait) {
    sink_ != nullptr ? sink_->AddWait(wait) : waits_.Add(wait);
  }
  void AddCallback(uint32_t thread, int64_t start_ns, int64_t duration_ns) {
    if (sink_ != nullptr) sink_->AddCallback(thread, start_ns, duration_ns);
  }
  const SpillTable<NativeCallRow>& native_calls() const { return native_calls_; }
  WaitSums* waits() { return &waits_; }
  const WaitSums& waits() const { return waits_; }

  // `paths`: how many there are.
  void Carry(trace::Archive* archive, uint32_t paths);

 private:
  static constexpr size_t kOfKind = kLayers * kLayers;
  static constexpr size_t kOfPath = kIterationKinds * kOfKind;
  static size_t FirstOf(uint32_t path, IterationKind in) {
    return path * kOfPath + static_cast<size_t>(in) * kOfKind;
  }

  CallSink* sink_;
  // [path][in][from][to]; 18.9 MB at 16,384 paths
  std::vector<uint64_t> transitions_;
  SpillTable<NativeCallRow> native_calls_;
  WaitSums waits_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_CALL_COUNTS_H_
