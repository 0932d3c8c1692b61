// Where the training loop of a process begins (docs/reference/semantics.md#set-up-pauses).
#ifndef RLSCOPE_ANALYSIS_VIEWS_LOOP_BEGINNING_H_
#define RLSCOPE_ANALYSIS_VIEWS_LOOP_BEGINNING_H_

#include <stdint.h>

#include <optional>
#include <utility>
#include <vector>

#include "analysis/views/breakdown_rows.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

// A pause between stretches is a candidate as soon as it ends, if it is long and nothing was
// learned before. It stays one until two like it come. What is new after it shows at the end.
//
//   stretches   |===|-------|==|------------------|===|-|==|-|===|-|==|-|===|-|==|
//   candidates          1                2          3: soon two come that are like it
//
// Each makes the time since the first stretch longer by a tenth, so there are few.
class LoopBeginning {
 public:
  struct Candidate {
    uint64_t number = 0;  // those that were dropped count, too
    int64_t end_ns = 0;
    int64_t length_ns = 0;
    uint32_t alike = 0;    // later pauses that are like it
    BreakdownRows before;  // the rows of the process at its end
  };
  // Time of the process so far that was recorded, without warm-up, and the part of it in no
  // operation.
  struct Clock {
    int64_t recorded_ns = 0;
    int64_t idle_ns = 0;

    void Carry(trace::Archive* archive);
  };
  static constexpr uint32_t kNoName = UINT32_MAX;
  // More than fit in the longest time: after each, a tenth more of it has passed.
  static constexpr size_t kMostCandidates = 512;

  // A stretch begins. Gives whether the pause before it is a candidate, unless something was
  // learned. Only while there are candidates, the idle time matters.
  bool Enter(const Clock& clock) {
    entered_ = clock;
    if (stretches_ == 0 || learned_) return false;
    const int64_t before_ns = left_.recorded_ns - begun_ns_;
    const int64_t part = stretches_ < kTrials ? kLeastPart : 1;
    return IsPartOf(clock.recorded_ns - left_.recorded_ns, before_ns, part);
  }
  bool has_learned() const { return learned_; }
  // After Enter gave true.
  void SetLearned() { learned_ = true; }
  void Propose(int64_t now, const BreakdownRows& before);

  // The stretch ends. One that lasted no time is none, and the pause goes on.
  void Leave(const Clock& clock, bool lasted);

  // In the loop, the first name of the owner's outermost operation from here on; else kNoName.
  void SetName(int64_t now, uint32_t name) {
    if (name != name_) ChangeName(now, name);
  }

  // Whether the pause before the stretch that runs is a candidate.
  bool is_proposed() const { return proposed_.has_value(); }
  // In order of time.
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // How many there were so far, the proposed one included.
  uint64_t made() const { return made_; }
  // At the end: the last set-up pause, null if there is none.
  const Candidate* LastSetUp() const;

  void Carry(trace::Archive* archive, const RowLimits& limits);

 private:
  static constexpr int64_t kLeastPart = 10;  // of the time before, to be long
  static constexpr uint64_t kTrials = 64;    // from so many stretches on it must have all of that
  static constexpr int64_t kAlikePart = 3;   // of its length, to be like it
  static constexpr uint32_t kMostAlike = 1;

  // Whether `ns` is at least the `part`th part of `whole_ns`.
  static bool IsPartOf(int64_t ns, int64_t whole_ns, int64_t part) {
    return ns >= (whole_ns + part - 1) / part;
  }
  void Compare(int64_t idle_ns);
  void ChangeName(int64_t now, uint32_t name);
  void CarryNames(trace::Archive* archive, const RowLimits& limits);

  uint64_t stretches_ = 0;  // that lasted some time
  bool learned_ = false;    // as far as anyone looked
  int64_t begun_ns_ = 0;    // recorded before the first stretch
  Clock entered_;           // at the begin of the last stretch
  Clock left_;              // at the end of the last stretch that lasted some time
  uint64_t made_ = 0;
  std::optional<Candidate> proposed_;  // the pause before the stretch that runs
  std::vector<Candidate> candidates_;
  uint32_t name_ = kNoName;
  int64_t named_ns_ = 0;           // since when
  int64_t newest_ns_ = INT64_MIN;  // when a name last occurred for the first time
  std::vector<bool> known_names_;  // by number: it occurred
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_LOOP_BEGINNING_H_
