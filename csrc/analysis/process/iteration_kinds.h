// The kind of the iteration in which a time lies
// (docs/reference/semantics.md#calls-and-transitions).
#ifndef RLSCOPE_ANALYSIS_PROCESS_ITERATION_KINDS_H_
#define RLSCOPE_ANALYSIS_PROCESS_ITERATION_KINDS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "analysis/keys/key.h"
#include "analysis/process/history.h"

namespace rlscope::analysis {

class IterationKinds {
 public:
  // `history` must outlive it.
  explicit IterationKinds(const History& history) : spans_(history.iteration_spans()) {}

  // Times never decrease from call to call.
  IterationKind KindAt(int64_t now) {
    while (next_ < spans_.size() && spans_[next_].end_ns <= now) ++next_;
    const bool inside = next_ < spans_.size() && spans_[next_].start_ns <= now;
    return inside ? spans_[next_].kind : IterationKind::kNone;
  }
  // Up to this time the answer for `now` stays the same; after KindAt(now).
  int64_t Until(int64_t now) const {
    if (next_ == spans_.size()) return kNever;
    return now < spans_[next_].start_ns ? spans_[next_].start_ns : spans_[next_].end_ns;
  }

 private:
  const std::vector<IterationSpan>& spans_;
  size_t next_ = 0;  // the first that ends after the last time
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_ITERATION_KINDS_H_
