// Follows the state of a process, and what the thread that decides its layer is in.
#ifndef RLSCOPE_ANALYSIS_IDLE_REASON_FOLLOWER_H_
#define RLSCOPE_ANALYSIS_IDLE_REASON_FOLLOWER_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "analysis/keys/key.h"
#include "analysis/process/history.h"
#include "analysis/process/process_state.h"
#include "analysis/sweep/streams.h"
#include "analysis/threads/notes.h"
#include "analysis/threads/owner_calls.h"

namespace rlscope::analysis {

class ReasonSink {
 public:
  virtual ~ReasonSink() = default;
  // The process was in the row of the process view, for the reason, from `start_ns` on.
  virtual void AddTime(uint32_t row, Reason reason, int64_t start_ns, int64_t end_ns) = 0;
};

class ReasonFollower : public KeyConsumer {
 public:
  // The streams have notes of reasons.
  ReasonFollower(Streams* streams, const History& history, ReasonSink* sink);

  void BeginEpoch(int64_t epoch_start_ns) override { epoch_start_ns_ = epoch_start_ns; }
  void Consume(const uint64_t* keys, size_t count) override;
  // All keys were consumed.
  void Finish() { AdvanceTo(history_.end_ns()); }

  // After CarryThreads(): takes the state at `until_ns`. Time before it is left out.
  void GoOn(trace::Archive* archive, const Streams& streams, uint32_t paths, OwnerCalls* calls,
            int64_t until_ns);

 private:
  void AdvanceTo(int64_t now);
  void ApplyEdges();
  void TakeNotes(uint32_t stream);
  Reason FindReason() const;
  uint32_t FindDeepest(uint32_t layer) const;
  bool IsIn(uint32_t stream, uint32_t layer) const;

  const KeyLayout layout_;
  const History& history_;
  const std::vector<OutermostNotes*> notes_;
  const std::vector<ReasonNotes*> reason_notes_;
  ReasonSink* const sink_;
  ThreadTable table_;
  ProcessInstant instant_;
  std::vector<Reason> reasons_;  // by stream
  size_t edge_ = 0;              // next of the history
  bool recording_ = false;
  int64_t epoch_start_ns_ = 0;
  int64_t now_ns_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_IDLE_REASON_FOLLOWER_H_
