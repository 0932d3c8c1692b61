// The automatic track of one thread (trace/layout/record.h), read ahead: what a segment is called
// turns out later in the stream, and the sweep wants to know when it begins.
#ifndef RLSCOPE_ANALYSIS_THREADS_AUTOMATIC_TRACK_H_
#define RLSCOPE_ANALYSIS_THREADS_AUTOMATIC_TRACK_H_

#include <stdint.h>

#include <deque>
#include <memory>
#include <vector>

#include "analysis/process/history.h"
#include "analysis/process/source.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

// Reads no further than the name of a segment; keeps 8 bytes of each record between, and 8 of each
// group of segments that no resolve separated.
class AutomaticTrack {
 public:
  // `items`: another stream of the same thread, from its beginning.
  AutomaticTrack(std::unique_ptr<CpuSource> items, const ProcessInput& process,
                 const History& history);
  AutomaticTrack(const AutomaticTrack&) = delete;
  AutomaticTrack& operator=(const AutomaticTrack&) = delete;

  struct Change {
    bool any;            // false: nothing changes
    uint32_t operation;  // that runs from here on: a final state
    bool begins;         // as an instance of its own
  };
  // The effect of the thread's next kAutoSegment or kAutoResolve.
  Change Next();
  // The next one is outside of windows, or after the thread's end.
  void Skip() { ++skipped_; }

  // The thread entered an explicit operation before the stream begins.
  void NoteExplicit() { explicit_ = true; }

  void Carry(trace::Archive* archive, const ResumeItems& resume);

 private:
  enum class Does : uint8_t { kNothing, kBegins, kEnds };
  struct Record {
    uint32_t group;  // of the segment that begins, or its state from kAutoNamed on | kNamedGroup
    Does does;
    bool touches;  // it begins where the segment before ended
  };
  // Segments that share their fate. The first groups are the final states.
  struct Group {
    uint32_t parent;  // itself, or the group it was united with
    uint32_t state;
  };

  bool Read();
  void ReadBatch(const trace::CpuBatch& batch);
  void ReadItem(uint32_t what, bool recorded);
  void Begin(uint32_t state);
  void Resolve(uint32_t resolve);
  void ResolveRest();
  void Move(uint32_t resolve);
  void FollowStretch(uint32_t what);
  size_t Forwarded();
  void NameStretch();
  bool FollowWindow();

  Record Take();
  bool GoesOn(uint32_t operation);
  size_t NextChange() const;
  uint32_t GroupOf(uint32_t state);
  uint32_t Find(uint32_t group);
  uint32_t StateOf(uint32_t group);
  bool IsFinal(uint32_t group) { return trace::IsAutoFinal(StateOf(group)); }
  uint32_t Await(uint32_t group);
  void Compact();
  void CarryGroups(trace::Archive* archive);
  void CarryGroup(trace::Archive* archive, uint32_t* group) const;

  std::unique_ptr<CpuSource> items_;  // null: all was read
  const ProcessInput& process_;
  const History& history_;

  // How far it has read:
  int64_t now_ = INT64_MIN;
  size_t window_ = 0;
  bool explicit_ = false;  // the thread has entered an explicit operation
  bool runs_ = false;
  uint32_t running_ = 0;          // group
  int64_t ended_ns_ = INT64_MIN;  // when a resolve ended the last segment, if nothing came after
  uint32_t group_of_state_[trace::kAutoStates];

  std::vector<Group> groups_;
  std::deque<Record> records_;  // read and not taken
  // A stretch that may be an evaluation, and nothing has said so far whether it is.
  bool is_undecided_ = false;
  size_t before_stretch_ = 0;  // records that lie before it
  size_t simulated_ = 0;       // of its records, those up to its last step
  uint32_t awaited_ = 0;       // group
  uint64_t skipped_ = 0;
  uint32_t before_ = trace::kAutoNothing;  // name of the last segment that was taken
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_AUTOMATIC_TRACK_H_
