#include "analysis/views/overlap.h"

#include <algorithm>
#include <map>
#include <set>

namespace rlscope::analysis {
namespace {

struct Boundary {
  int64_t time_ns;
  uint32_t stream;
  bool starts;
};

void SortAndMerge(std::vector<Interval>* intervals) {
  std::sort(intervals->begin(), intervals->end(),
            [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  std::vector<Interval> merged;
  for (const Interval& interval : *intervals) {
    if (interval.end_ns <= interval.start_ns) continue;
    if (!merged.empty() && interval.start_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, interval.end_ns);
    } else {
      merged.push_back(interval);
    }
  }
  intervals->swap(merged);
}

std::vector<Boundary> FindBoundaries(const std::vector<std::vector<Interval>>& streams) {
  std::vector<Boundary> boundaries;
  for (uint32_t stream = 0; stream < streams.size(); ++stream) {
    for (const Interval& interval : streams[stream]) {
      boundaries.push_back({interval.start_ns, stream, true});
      boundaries.push_back({interval.end_ns, stream, false});
    }
  }
  std::sort(boundaries.begin(), boundaries.end(),
            [](const Boundary& a, const Boundary& b) { return a.time_ns < b.time_ns; });
  return boundaries;
}

}  // namespace

std::vector<OverlapRow> FindOverlap(std::vector<std::vector<Interval>> streams) {
  for (std::vector<Interval>& intervals : streams) SortAndMerge(&intervals);
  std::map<std::vector<uint32_t>, size_t> row_of_set;
  std::vector<OverlapRow> rows;
  std::set<uint32_t> active;
  int64_t last_ns = 0;
  for (const Boundary& boundary : FindBoundaries(streams)) {
    if (!active.empty() && boundary.time_ns > last_ns) {
      std::vector<uint32_t> set(active.begin(), active.end());
      const auto [entry, added] = row_of_set.try_emplace(set, rows.size());
      if (added) rows.push_back({std::move(set), 0, last_ns, last_ns});
      rows[entry->second].duration_ns += boundary.time_ns - last_ns;
      rows[entry->second].end_ns = boundary.time_ns;
    }
    last_ns = boundary.time_ns;
    if (boundary.starts) {
      active.insert(boundary.stream);
    } else {
      active.erase(boundary.stream);
    }
  }
  return rows;
}

}  // namespace rlscope::analysis
