// The state of a process at one instant, from the states of its streams: who owns it, the deepest
// layer, whether a GPU works (semantics.md, rules 8 and 9).
#ifndef RLSCOPE_ANALYSIS_PROCESS_STATE_H_
#define RLSCOPE_ANALYSIS_PROCESS_STATE_H_

#include <stdint.h>

#include <vector>

#include "analysis/key.h"
#include "analysis/operation_paths.h"

namespace rlscope::analysis {

constexpr uint32_t kNobody = UINT32_MAX;

// A row of the process view: path, layer, gpu_busy.
constexpr uint32_t kRowsOfPath = 10;
constexpr uint32_t MakeRow(uint32_t path, uint32_t layer, bool gpu_busy) {
  return path * kRowsOfPath + layer * 2 + gpu_busy;
}
constexpr uint32_t PathOfRow(uint32_t row) { return row / kRowsOfPath; }
constexpr uint32_t LayerOfRow(uint32_t row) { return row % kRowsOfPath / 2; }
constexpr bool IsBusyRow(uint32_t row) { return row & 1; }

// Threads per layer, packed: 16 bits a layer, python lowest.
class LayerCounts {
 public:
  static uint64_t Of(uint32_t field) { return kOne[field]; }
  // By comparing: finding the highest bit takes twice the time before x86-64-v3.
  static uint32_t Deepest(uint64_t counts) {
    return (counts != 0) + (counts >= kOne[2]) + (counts >= kOne[3]) + (counts >= kOne[4]);
  }

 private:
  // By field of the key: none, the layers, two states of GPU streams, absent.
  static constexpr uint64_t kOne[kFieldMask + 1] = {
      0, 1, uint64_t{1} << 16, uint64_t{1} << 32, uint64_t{1} << 48, 0, 0, 0};
};

// The small part, which the sweep keeps in registers.
struct ProcessInstant {
  uint64_t layer_counts = 0;  // of the threads that count
  uint32_t busy_streams = 0;
  uint32_t owner = kNobody;  // stream number
  uint32_t path = kNoPath;   // of the owner
  uint32_t row() const {
    return MakeRow(path, LayerCounts::Deepest(layer_counts), busy_streams > 0);
  }
};

// What is known of each stream, by number. GPU streams count as threads in no layer, so that the
// sweep need not ask which one a key is of: that is a coin toss.
class ThreadTable {
 public:
  struct Thread {
    uint64_t counted = 0;          // what it adds to layer_counts now
    uint64_t mask = ~uint64_t{0};  // all ones if it counts: it owns or has no operation
    int64_t begin_ns = kNever;     // of its outermost operation
    uint32_t state = MakeState(kNoPath, kAbsent);
    bool may_own = false;  // had an operation when ChangeOwner last looked

    bool has_operation() const { return IsOperation(PathOf(state)); }
  };

  // `main` is the stream of the main thread, or kNobody.
  ThreadTable(size_t streams, uint32_t main) : threads_(streams), main_(main) {}

  Thread& operator[](uint32_t stream) { return threads_[stream]; }

  // The stream is in another state; its owner stays.
  static void Change(ProcessInstant* instant, Thread* thread, uint32_t stream, uint32_t state) {
    const uint32_t field = FieldOf(state);
    const uint64_t counted = LayerCounts::Of(field) & thread->mask;
    instant->layer_counts += counted - thread->counted;
    thread->counted = counted;
    thread->state = state;
    instant->busy_streams += BusyStep(field);
    instant->path = stream == instant->owner ? PathOf(state) : instant->path;
  }

  // A thread got or lost its operations, or another one is outermost now: `thread` already says so.
  // Returns the instant with the right owner.
  ProcessInstant ChangeOwner(ProcessInstant instant, uint32_t stream);

 private:
  uint32_t FindOwner(uint32_t owner, uint32_t changed) const;
  bool BeganEarlier(uint32_t stream, uint32_t other) const;
  void Recount(ProcessInstant* instant, uint32_t stream);

  std::vector<Thread> threads_;
  const uint32_t main_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_STATE_H_
