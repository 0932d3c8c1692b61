// The recorded time of a process: that in its windows (docs/reference/semantics.md#windows; which
// GPU work counts: docs/reference/semantics-notes.md#cuda-calls-and-gpu-work).
#ifndef RLSCOPE_ANALYSIS_PROCESS_RECORDED_TIME_H_
#define RLSCOPE_ANALYSIS_PROCESS_RECORDED_TIME_H_

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "analysis/keys/key.h"
#include "analysis/process/history.h"

namespace rlscope::analysis {

class RecordedTime {
 public:
  // `start_ns`: when the process starts.
  RecordedTime(const History& history, int64_t start_ns) : windows_(history.windows()) {
    int64_t before_ns = 0;
    for (const Window& window : windows_) {
      before_ns_.push_back(before_ns);
      before_ns += window.stop_ns - window.start_ns;
    }
    begins_with_process_ = windows_.front().start_ns == start_ns;
    ends_with_process_ = !history.stopped();
  }

  // How much of [start_ns, end_ns) was recorded; 0 if it is empty or ends before it starts.
  int64_t Between(int64_t start_ns, int64_t end_ns) const {
    return start_ns < end_ns ? Until(end_ns) - Until(start_ns) : 0;
  }

  // Whether some of [start_ns, end_ns) was, or the instant itself if that is empty. GPU work may
  // outlive its process: the end of a process is no edge here, nor is its start.
  bool Touches(int64_t start_ns, int64_t end_ns) const {
    const size_t place = FirstThatStopsAfter(start_ns);
    if (place == windows_.size()) return ends_with_process_;
    if (place == 0 && begins_with_process_) return true;
    return std::max(end_ns, start_ns + 1) > windows_[place].start_ns;
  }

 private:
  int64_t Until(int64_t time_ns) const {
    const size_t place = FirstThatStopsAfter(time_ns);
    if (place == windows_.size()) {
      return before_ns_.back() + windows_.back().stop_ns - windows_.back().start_ns;
    }
    return before_ns_[place] + std::max<int64_t>(0, time_ns - windows_[place].start_ns);
  }

  size_t FirstThatStopsAfter(int64_t time_ns) const {
    const auto stops_after = [](int64_t time, const Window& window) {
      return time < window.stop_ns;
    };
    return static_cast<size_t>(
        std::upper_bound(windows_.begin(), windows_.end(), time_ns, stops_after) -
        windows_.begin());
  }

  const std::vector<Window>& windows_;  // at least one
  std::vector<int64_t> before_ns_;      // recorded before each window
  bool begins_with_process_;
  bool ends_with_process_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_RECORDED_TIME_H_
