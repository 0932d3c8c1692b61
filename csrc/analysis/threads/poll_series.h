// Calls with a time-out that a thread repeats until one of them gets what it waits for
// (docs/reference/semantics.md#repeated-polls).
#ifndef RLSCOPE_ANALYSIS_THREADS_POLL_SERIES_H_
#define RLSCOPE_ANALYSIS_THREADS_POLL_SERIES_H_

#include <stdint.h>

#include <unordered_map>
#include <vector>

#include "trace/read/chunk_parser.h"

namespace rlscope::analysis {

// A native call or a wait that has ended.
struct NativeCall {
  uint32_t thread;  // number
  uint32_t function;
  uint32_t path;
  int64_t start_ns;
  int64_t duration_ns;
  int64_t self_ns;

  int64_t end_ns() const { return start_ns + duration_ns; }
};

// What the names of waits say of series.
class PollNames {
 public:
  PollNames() = default;
  explicit PollNames(const std::vector<trace::Name>& names);

  // Whether the wait timed out, and another of its function may end the series.
  bool IsTurn(const NativeCall& wait) const { return IsKnown(wait) && Of(wait).timed_out; }
  // Neither begins a series nor ends one: it lies inside the waits that do, or is far shorter than
  // the last turn, which is null if no series is open.
  bool IsPassedOver(const NativeCall& wait, const NativeCall* turn) const;
  // Whether `wait`, the next one of the thread, is of the same series as the turn before it.
  bool GoesOn(const NativeCall& turn, const NativeCall& wait) const;

 private:
  static constexpr int64_t kPauses = 10;   // at least as many as long as a pause make a turn
  static constexpr int64_t kShorts = 100;  // the same of a wait that is passed over
  struct Poll {
    uint32_t function;  // names of one function have one number
    bool timed_out;
    bool of_gil;
  };
  bool IsKnown(const NativeCall& wait) const { return polls_.count(wait.function) > 0; }
  const Poll& Of(const NativeCall& wait) const { return polls_.at(wait.function); }

  std::unordered_map<uint32_t, Poll> polls_;  // by id of the name
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_POLL_SERIES_H_
