#include "analysis/cuda/launch_table.h"

#include <algorithm>
#include <tuple>

namespace rlscope::analysis {
namespace {

bool IsBefore(const Launch& one, const Launch& other) {
  return std::tie(one.correlation, one.start_ns) < std::tie(other.correlation, other.start_ns);
}
bool IsBelow(const Launch& launch, int64_t correlation) { return launch.correlation < correlation; }

}  // namespace

void LaunchTable::Sort() {
  if (std::is_sorted(launches_.begin(), launches_.end(), IsBefore)) return;
  std::sort(launches_.begin(), launches_.end(), IsBefore);
}

// Steps of doubled length away from the hint, then a binary search in the last one.
Launch* LaunchTable::Find(int64_t correlation, size_t* hint) const {
  size_t first = 0, last = launches_.size();
  if (last == 0 || correlation == 0) return nullptr;
  size_t at = std::min(*hint, last - 1);
  if (IsBelow(launches_[at], correlation)) {
    for (size_t step = 1; at < last && IsBelow(launches_[at], correlation); step *= 2) {
      first = at;
      at += step;
    }
    last = std::min(at, last);
  } else {
    for (size_t step = 1; at > 0 && !IsBelow(launches_[at], correlation); step *= 2) {
      last = at + 1;
      at -= std::min(at, step);
    }
    first = at;
  }
  Launch* const found =
      std::lower_bound(launches_.begin() + first, launches_.begin() + last, correlation, IsBelow);
  if (found == launches_.end() || found->correlation != correlation) return nullptr;
  *hint = static_cast<size_t>(found - launches_.begin());
  return found;
}

}  // namespace rlscope::analysis
