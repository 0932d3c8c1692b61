// Where the time outside operations lies: before the first operation of the process, between
// operations, or after the last one (semantics.md, "The process view").
#ifndef RLSCOPE_ANALYSIS_OUTSIDE_PARTS_H_
#define RLSCOPE_ANALYSIS_OUTSIDE_PARTS_H_

#include <stdint.h>

#include "analysis/key.h"
#include "analysis/process_view.h"

namespace rlscope::analysis {

// Reads the running sum of the time outside operations whenever the process loses its owner: while
// there is one the sum stands still.
//
//   sum at   0          s.........s    e...e          total
//            |----------|op|------|op  op|------------|
//             start-up     between        end
class OutsideParts {
 public:
  enum Part : uint8_t { kStartUp, kBetween, kEnd, kWhole };

  // The process has an owner from here on.
  void Own(int64_t now) { owned_since_ns_ = now; }
  // It has none any more, or it ends. An operation that lasted no time is none.
  void Disown(int64_t now, const ProcessView& view) {
    if (now <= owned_since_ns_) return;
    owned_since_ns_ = kNever;
    last_ns_ = view.outside();
    if (!had_owner_) first_ns_ = last_ns_;
    had_owner_ = true;
  }

  // visit(part, row, duration_ns) for each that lasted; `total` is the sum at the end.
  template <class Visit>
  void ForEach(const OutsideTimes& total, Visit visit) const {
    for (uint32_t row = 0; row < kRowsOfPath; ++row) {
      const auto give = [&](Part part, int64_t duration_ns) {
        if (duration_ns > 0) visit(part, row, duration_ns);
      };
      if (!had_owner_) {
        give(kWhole, total[row]);
        continue;
      }
      give(kStartUp, first_ns_[row]);
      give(kBetween, last_ns_[row] - first_ns_[row]);
      give(kEnd, total[row] - last_ns_[row]);
    }
  }

 private:
  bool had_owner_ = false;
  int64_t owned_since_ns_ = kNever;
  OutsideTimes first_ns_{};  // up to the first operation
  OutsideTimes last_ns_{};   // up to the end of the last one so far
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_OUTSIDE_PARTS_H_
