// The state of a process at one instant, from the states of its streams: its owner, the deepest
// layer, whether a GPU works (docs/reference/semantics.md#the-process-view,
// docs/reference/semantics.md#gpu).
#ifndef RLSCOPE_ANALYSIS_PROCESS_PROCESS_STATE_H_
#define RLSCOPE_ANALYSIS_PROCESS_PROCESS_STATE_H_

#include <stdint.h>

#include <vector>

#include "analysis/archive/archived_streams.h"
#include "analysis/keys/key.h"
#include "analysis/keys/layer_ranks.h"
#include "analysis/keys/operation_paths.h"
#include "analysis/keys/row.h"

namespace rlscope::analysis {

constexpr uint32_t kNobody = UINT32_MAX;

// Threads per layer and whether the GPU is busy, packed by rank above the bit of the GPU:
//
//   cuda_api 11 | framework 13 | simulator 11 | python 14 | wait 14 | GPU 1
//
// So many bits hold the threads that may be in a layer at once: 16,383 that wait, 2,047 in calls of
// CUDA.
class LayerCounts {
 public:
  static uint64_t Of(uint32_t field) { return kOne[field]; }
  // Row within the path: the deepest layer with a thread, and the GPU. This one compares. Counting
  // leading zeros takes half the time, on a CPU with an instruction for it (deepest_layer.h).
  static uint32_t RowOf(uint64_t counts) {
    const uint32_t layer = (counts >= kOne[1]) + (counts >= kOne[2]) + (counts >= kOne[3]) +
                           (counts >= kOne[4]) + (counts >= kOne[5]);
    return layer * 2 + static_cast<uint32_t>(counts & 1);
  }
  // Where the count of a layer begins, from rank 1 on; for the rank above the highest: the width of
  // all.
  static constexpr uint32_t LowestBit(uint32_t rank) { return kLowestBits[rank]; }

 private:
  static constexpr uint32_t kLowestBits[kLayers + 1] = {0, 1, 15, 29, 40, 53, 64};
  // Indexed by the field of the key: none, the layers, the busy GPU, the idle one or an absent
  // thread.
  static constexpr uint64_t kOne[kFieldMask + 1] = {0,
                                                    uint64_t{1} << kLowestBits[1],
                                                    uint64_t{1} << kLowestBits[2],
                                                    uint64_t{1} << kLowestBits[3],
                                                    uint64_t{1} << kLowestBits[4],
                                                    uint64_t{1} << kLowestBits[5],
                                                    1,
                                                    0};
};

// The small part, which the sweep keeps in registers.
struct ProcessInstant {
  uint64_t counts = 0;                       // LayerCounts of the streams that count
  uint32_t owner = kNobody;                  // stream number
  uint32_t first_row = FirstRowOf(kNoPath);  // of the owner's path
  uint32_t path() const { return PathOfRow(first_row); }
  uint32_t row() const { return first_row + LayerCounts::RowOf(counts); }
};

// The state of each stream, by number. The GPU counts like a thread, so that the sweep need not ask
// whose key it has: that branch would be a coin toss.
class ThreadTable {
 public:
  struct alignas(32) Thread {
    uint64_t counted = 0;          // what it adds to the counts now
    uint64_t mask = ~uint64_t{0};  // all ones if it counts: it owns, or works for the owner
    int64_t begin_ns = kNever;     // of its outermost operation
    uint32_t state = MakeState(kNoPath, kAbsent);  // low half of its last key
    bool may_own = false;                          // had an operation when ChangeOwner last looked

    bool has_operation() const { return IsOperation(PathOf(state)); }
  };

  // `main` is the stream of the main thread, or kNobody.
  ThreadTable(size_t streams, uint32_t main) : threads_(streams), main_(main) {}

  Thread& operator[](uint32_t stream) { return threads_[stream]; }
  const Thread& at(uint32_t stream) const { return threads_[stream]; }
  uint32_t main() const { return main_; }

  // The thread is in another state, which its key says; the owner stays.
  static void Change(ProcessInstant* instant, Thread* thread, bool is_owner, uint64_t key) {
    const uint32_t state = static_cast<uint32_t>(key);
    const uint64_t counted = LayerCounts::Of(FieldOf(state)) & thread->mask;
    instant->counts += counted - thread->counted;
    thread->counted = counted;
    thread->state = state;
    instant->first_row = is_owner ? FirstRowOf(state) : instant->first_row;
  }
  // The same; returns whether the owner's path changed. It uses a mask: of ?: and the question
  // after it, a compiler makes a branch on is_owner. (The mask alone costs 3 % of the sweep.)
  static bool ChangeAndTell(ProcessInstant* instant, Thread* thread, bool is_owner, uint64_t key) {
    const uint32_t row_before = instant->first_row;
    const uint32_t change = (row_before ^ FirstRowOf(static_cast<uint32_t>(key))) &
                            (0 - static_cast<uint32_t>(is_owner));
    Change(instant, thread, false, key);
    instant->first_row = row_before ^ change;
    return change != 0;
  }

  // Whether it lives, and owns the process or works for the owner.
  bool CountsNow(uint32_t stream) const {
    const Thread& thread = threads_[stream];
    return thread.mask != 0 && FieldOf(thread.state) != kAbsent;
  }

  // A thread got or lost its operations, or another one is outermost now: `thread` already says so.
  // Returns the instant with the right owner.
  ProcessInstant ChangeOwner(ProcessInstant instant, uint32_t stream);

  // All states, and the instant. `paths`: how many there are.
  void Carry(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths,
             ProcessInstant* instant);

 private:
  uint32_t FindOwner(uint32_t owner, uint32_t changed) const;
  bool BeganEarlier(uint32_t stream, uint32_t other) const;
  bool Counts(uint32_t stream, uint32_t owner) const;
  void Recount(ProcessInstant* instant, uint32_t stream);

  std::vector<Thread> threads_;
  const uint32_t main_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_PROCESS_STATE_H_
