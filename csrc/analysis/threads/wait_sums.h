// Waits by thread, function and operation, and which of them ended before and after the training
// loop (docs/reference/semantics.md#waits).
#ifndef RLSCOPE_ANALYSIS_THREADS_WAIT_SUMS_H_
#define RLSCOPE_ANALYSIS_THREADS_WAIT_SUMS_H_

#include <stdint.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/threads/poll_series.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

// Calls or waits, added up.
struct CallSum {
  uint64_t count = 0;
  int64_t duration_ns = 0;
  int64_t self_ns = 0;

  void Add(const CallSum& other) {
    count += other.count;
    duration_ns += other.duration_ns;
    self_ns += other.self_ns;
  }
  CallSum Without(const CallSum& part) const {
    return {count - part.count, duration_ns - part.duration_ns, self_ns - part.self_ns};
  }
};
using WaitKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // thread, function, path

// Where the loop begins and ends is known at the end only. So each row remembers its sum at every
// time at which the loop may begin, and at the last one at which it may have ended. A row does so
// when it grows the next time.
//
//   cuts      begin        end  begin?   end      end
//   waits   w   |  w  w     |     |  w    |   w    |  w
//   before      1                 3                      sums of a row at the cuts
//   after                                             5
class WaitSums {
 public:
  struct Row {
    CallSum whole;
    // The sums of what ended until a cut.
    struct Mark {
      int64_t cut_ns = INT64_MIN;
      CallSum sum;
    };
    std::vector<Mark> begins;  // in order of time
    Mark end;

    // Of what ended until the loop began; from when it ended.
    CallSum Before(int64_t begin_ns) const;
    CallSum After(int64_t end_ns) const;
    void Add(const Row& other);
  };

  explicit WaitSums(PollNames polls = PollNames()) : polls_(std::move(polls)) {}

  // A wait that ended. For each thread in order of time.
  void Add(const NativeCall& wait) { ended_.push_back(wait); }

  // The loop may begin, or have ended, at `now`. In order of time.
  void MayBegin(int64_t now) { begins_.push_back(now); }
  void MayEnd(int64_t now) { ends_.push_back(now); }
  // It does not begin where it was said last.
  void DoesNotBegin() {
    if (!begins_.empty()) begins_.pop_back();  // else it comes from a damaged archive
  }

  // Everything before `now` has happened: counts the waits that ended until then.
  void Resolve(int64_t now);
  // After the last Resolve: no series goes on.
  void Finish();

  // After Finish.
  const std::map<WaitKey, Row>& rows() const { return rows_; }

  // `paths`: how many there are.
  void Carry(trace::Archive* archive, uint32_t paths);

 private:
  // The turns of a thread that timed out one after another, so far.
  struct Series {
    NativeCall last;
    Row row;
  };
  static WaitKey KeyOf(const NativeCall& wait) { return {wait.thread, wait.function, wait.path}; }

  void Count(const NativeCall& wait);
  void AddTo(Row* row, const NativeCall& wait) const;
  void CarrySeries(trace::Archive* archive, uint32_t paths);

  PollNames polls_;
  std::map<WaitKey, Row> rows_;
  std::map<uint32_t, Series> series_;  // by thread
  std::vector<NativeCall> ended_;      // not counted yet
  // From the last one before what was counted.
  std::vector<int64_t> begins_;
  std::vector<int64_t> ends_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_WAIT_SUMS_H_
