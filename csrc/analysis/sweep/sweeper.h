// Charges the time between merged keys to the views.
#ifndef RLSCOPE_ANALYSIS_SWEEP_SWEEPER_H_
#define RLSCOPE_ANALYSIS_SWEEP_SWEEPER_H_

#include <stdint.h>

#include <map>
#include <vector>

#include "analysis/keys/key.h"
#include "analysis/process/process_state.h"
#include "analysis/process/source.h"
#include "analysis/process/state_cursor.h"
#include "analysis/sweep/streams.h"
#include "analysis/sweep/sweep_result.h"
#include "analysis/threads/notes.h"
#include "analysis/threads/owner_calls.h"

namespace rlscope::analysis {

class Sweeper : public KeyConsumer {
 public:
  Sweeper(SweepResult* result, Streams* streams, const ProcessInput& input,
          const SweepOptions& options);

  // Keys from here on count from `epoch_start_ns`.
  void BeginEpoch(int64_t epoch_start_ns) override;
  void Consume(const uint64_t* keys, size_t count) override;
  // All keys were consumed; what is left is up to the end.
  void Finish();

  // The state of the sweep after Streams::MergeUntil(`until_ns`), or before MergeInto. Reading
  // gives false if there is no such state; then neither this nor the result can be used.
  bool Carry(trace::Archive* archive, Streams* streams, int64_t until_ns);

 private:
  // The form of RunToNote for this CPU and these options.
  using RunLoop = const uint64_t* (Sweeper::*)(const uint64_t* keys, const uint64_t* end);
  static RunLoop ChooseLoop(const SweepOptions& options);
  template <class Deepest>
  static RunLoop ChooseLoopOf(const SweepOptions& options);

  void Run(const uint64_t* keys, const uint64_t* end);
  template <class Deepest, bool kCounts, bool kRecords>
  const uint64_t* RunToNote(const uint64_t* keys, const uint64_t* end);
  void RunInGap(const uint64_t* keys, const uint64_t* end);
  void TakeNotes(uint32_t stream, int64_t now);
  void ChangeStage(int64_t now);
  void AdvanceTo(int64_t now);
  void SetInstant(int64_t now);
  void EnterLoop(int64_t now);
  void LeaveLoop(int64_t now);
  uint32_t OwnerOrMainStream() const {
    return instant_.owner != kNobody ? instant_.owner : table_.main();
  }
  const ThreadTable::Thread* OwnerOrMain();

  int64_t NextEdge() const;
  int64_t NextIterationEdge() const;
  void ApplyEdges(int64_t now);
  void ApplyIterations(int64_t now);
  void TakeStates(int64_t now);
  bool IsAwake() const;
  uint32_t FindStack() const;
  void CarryTimes(trace::Archive* archive);
  void CarryStage(trace::Archive* archive, const ArchivedStreams& streams);
  void CarryGrid(trace::Archive* archive);
  void CarryRunning(trace::Archive* archive);
  void CarryThreads(trace::Archive* archive, const ArchivedStreams& streams);
  void ResolveRecords(int64_t until_ns);
  void CarryRecords(trace::Archive* archive, const ArchivedStreams& streams);
  int64_t TimeOf(uint64_t key) const { return epoch_start_ns_ + layout_.TimeOf(key); }

  SweepResult* const result_;
  const KeyLayout layout_;
  std::vector<OutermostNotes*> notes_;
  ThreadView* const threads_;       // may be null
  Bookkeeping* const bookkeeping_;  // may be null
  ThreadTable table_;
  std::vector<uint32_t> outermost_paths_;  // by stream, of what was open last
  OwnerCalls owner_calls_;
  const ThreadTable::Thread nobody_;
  ProcessInstant instant_;
  const RunLoop run_to_note_;
  size_t unflushed_keys_ = 0;
  int64_t epoch_start_ns_ = 0;
  int64_t now_ns_;
  bool recording_ = false;
  bool in_loop_ = false;
  size_t edge_ = 0;        // next of the history
  int64_t bucket_end_ns_;  // of the one that runs; kNever: there are none
  size_t iteration_ = 0;   // that runs, or the next to begin
  bool in_iteration_ = false;
  StateCursor states_;
  std::map<uint32_t, uint32_t> streams_;  // number of a thread -> its stream
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_SWEEPER_H_
