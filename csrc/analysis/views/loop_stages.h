// The stages of a process's life: before its training loop, in it, after it
// (docs/reference/semantics.md#the-training-loop).
#ifndef RLSCOPE_ANALYSIS_VIEWS_LOOP_STAGES_H_
#define RLSCOPE_ANALYSIS_VIEWS_LOOP_STAGES_H_

#include <stdint.h>

#include <array>
#include <utility>

#include "analysis/keys/operation_paths.h"
#include "analysis/process/process_state.h"
#include "analysis/views/breakdown_rows.h"
#include "analysis/views/loop_beginning.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

// When the training loop lasted, as far as a time tells it.
struct LoopSpan {
  bool begun = false;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Keeps apart the time before the loop and the time after its last operation. Where it begins
// loop_beginning.h says. Which operation is the last is known only at the end, so time is added up
// anew after each. While all of
// that time is in no operation and in one phase, running sums give it; otherwise it is followed row
// by row.
//
//   rest   f.......f  r......  r...f.......f  r.......      f: followed, r: from running sums
//          ---------|loop op|--|eval|------|loop op|---
//   stage  start-up |  loop                        | end
class LoopStages {
 public:
  enum Stage : uint8_t { kStartUp, kWarmUp, kLoop, kEnd, kWhole };

  // Running sums of the rows of no operation, over all phases: by layer and GPU state, as in a row.
  struct Outside {
    std::array<int64_t, kRowsOfPath> duration_ns{};
    std::array<uint64_t, kRowsOfPath> count{};

    void Carry(trace::Archive* archive);
  };

  bool follows() const { return follows_; }
  // Time that the process view charges to a row.
  void Add(uint64_t key, int64_t duration_ns, uint64_t count) {
    if (follows_ && !in_loop_) AddRest(key, duration_ns, count);
  }

  // An operation of the loop owns the process from here on; all time before was added. Gives what
  // LoopBeginning::Enter does.
  bool Enter(int64_t now, const LoopBeginning::Clock& clock) {
    in_loop_ = true;
    entered_ns_ = now;
    return beginning_.Enter(clock);
  }
  // None does any more. An operation that lasted no time is none.
  void Leave(int64_t now, const LoopBeginning::Clock& clock, const Outside& outside) {
    in_loop_ = false;
    beginning_.SetName(now, LoopBeginning::kNoName);
    beginning_.Leave(clock, lasted(now));
    if (!lasted(now)) return;
    if (!begun_) {
      std::swap(before_, rest_);
      begin_ns_ = entered_ns_;
    }
    begun_ = true;
    end_ns_ = now;
    if (rest_.size() > 0) rest_ = {};
    follows_ = false;
    left_ = outside;
  }
  // Another phase or another operation comes: time is followed row by row until the next Leave().
  void Follow(uint32_t phase, const Outside& outside) {
    follows_ = true;
    for (uint32_t row = 0; row < kRowsOfPath; ++row) {
      const int64_t duration_ns = outside.duration_ns[row] - left_.duration_ns[row];
      if (duration_ns == 0) continue;
      AddRest(BreakdownRow::KeyOf(phase, row), duration_ns, outside.count[row] - left_.count[row]);
    }
  }

  void Carry(trace::Archive* archive, const RowLimits& limits);
  bool in_loop() const { return in_loop_; }
  // In the loop: it may begin where it was entered last.
  bool may_begin() const { return !begun_ || beginning_.is_proposed(); }
  // Whether it lasts some time if it is left now.
  bool lasted(int64_t now) const { return now > entered_ns_; }
  // At the end.
  LoopSpan span() const {
    const LoopBeginning::Candidate* const set_up = beginning_.LastSetUp();
    return {begun_, set_up != nullptr ? set_up->end_ns : begin_ns_, end_ns_};
  }
  // The stage of a time in which the process was in an operation of this path.
  static Stage StageOf(const LoopSpan& loop, int64_t time_ns, const OperationPaths::Node& path) {
    if (!loop.begun) return kWhole;
    if (time_ns < loop.start_ns) return kStartUp;
    return time_ns < loop.end_ns ? InLoop(path) : kEnd;
  }
  LoopBeginning* beginning() { return &beginning_; }
  const LoopBeginning& beginning() const { return beginning_; }

  // What a part of the loop is in which the operation of this path owned the process.
  static Stage InLoop(const OperationPaths::Node& path) { return path.warm_up ? kWarmUp : kLoop; }

  // visit(stage, duration_ns, count) for each stage that has a part of `whole`, a row of the
  // process view, at the end: everything is followed then.
  template <class Visit>
  void Split(const BreakdownRow& whole, const OperationPaths& paths, Visit visit) const {
    if (!begun_) return visit(kWhole, whole.duration_ns, whole.count);
    const LoopBeginning::Candidate* const set_up = beginning_.LastSetUp();
    const BreakdownRow before = (set_up != nullptr ? set_up->before : before_).Get(whole.key);
    const BreakdownRow rest = rest_.Get(whole.key);
    const auto give = [&](Stage stage, int64_t duration_ns, uint64_t count) {
      if (duration_ns > 0) visit(stage, duration_ns, count);
    };
    give(kStartUp, before.duration_ns, before.count);
    give(InLoop(paths.node(PathOfRow(whole.row()))),
         whole.duration_ns - before.duration_ns - rest.duration_ns,
         whole.count - before.count - rest.count);
    give(kEnd, rest.duration_ns, rest.count);
  }

 private:
  void AddRest(uint64_t key, int64_t duration_ns, uint64_t count) {
    BreakdownRow* row = rest_.FindOrAdd(key);
    row->duration_ns += duration_ns;
    row->count += count;
  }

  bool begun_ = false;
  bool in_loop_ = false;
  bool follows_ = true;
  int64_t entered_ns_ = 0;
  int64_t begin_ns_ = 0;  // of the first stretch of the loop,
  int64_t end_ns_ = 0;    // and end of the last
  LoopBeginning beginning_;
  BreakdownRows before_;  // before the first operation of the loop
  BreakdownRows rest_;    // since the loop was left
  Outside left_;          // when it was
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_LOOP_STAGES_H_
