// Time of a process's rows in the parts of its life: buckets of the timeline, iterations.
#ifndef RLSCOPE_ANALYSIS_VIEWS_PART_TIMES_H_
#define RLSCOPE_ANALYSIS_VIEWS_PART_TIMES_H_

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

#include "analysis/spill/spill_vector.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

struct PartRow {
  int64_t part;  // number of the bucket or iteration
  uint32_t row;
  int64_t duration_ns;
};

// Adds up the time of the part that runs.
class PartTimes {
 public:
  // Room for rows of lower numbers.
  void Reserve(size_t rows) { duration_ns_.resize(rows); }

  void Add(uint32_t row, int64_t duration_ns) {
    if (duration_ns_[row] == 0) touched_.push_back(row);
    duration_ns_[row] += duration_ns;
  }

  // `rows`: as many as there is room for.
  void Carry(trace::Archive* archive, size_t rows) {
    touched_.resize(archive->Count(touched_.size()));
    for (uint32_t& row : touched_) {
      int64_t ns = archive->reads() ? 0 : duration_ns_[row];
      archive->Below(&row, rows);
      archive->Sum(&ns);
      if (archive->ok()) duration_ns_[row] = ns;
    }
  }

  // The part ends, and was this one: appends what it holds, by row.
  void End(int64_t part, SpillVector<PartRow>* rows) {
    std::sort(touched_.begin(), touched_.end());
    for (uint32_t row : touched_) {
      rows->push_back({part, row, duration_ns_[row]});
      duration_ns_[row] = 0;
    }
    touched_.clear();
  }

 private:
  std::vector<int64_t> duration_ns_;  // by row
  std::vector<uint32_t> touched_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_PART_TIMES_H_
