// Which process launched a row of a GPU, in files of several processes that share its streams.
#ifndef RLSCOPE_IMPORTERS_LAUNCHES_H_
#define RLSCOPE_IMPORTERS_LAUNCHES_H_

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "importers/row_sorter.h"
#include "importers/rows.h"
#include "importers/spill_file.h"

namespace rlscope::importers {

// A CUDA call, and a row of a GPU: both in order of correlation ids, and of the file.
struct Launch {
  int64_t correlation;
  uint64_t number;
  uint64_t process;
  bool operator<(const Launch& other) const {
    return std::tie(correlation, number) < std::tie(other.correlation, other.number);
  }
};

struct PlacedRow {
  GpuRow row;
  ImportedStream stream;
  uint32_t process;  // to which it belongs if it has no launch
  bool operator<(const PlacedRow& other) const {
    return std::tie(row.correlation, row.number) <
           std::tie(other.row.correlation, other.row.number);
  }
};

// The launches of one correlation id after the other.
class Launches {
 public:
  Launches(const SpillFile& spill, const RowSorter<Launch>& sorted)
      : rows_(spill, sorted.runs()), more_(rows_.Next(&next_)) {}

  // The process whose launch stands nearest in the file; nothing: there is none. Correlation ids
  // ascend from one call to the next.
  std::optional<uint64_t> Nearest(int64_t correlation, uint64_t number) {
    if (correlation != correlation_) Collect(correlation);
    if (same_.empty()) return std::nullopt;
    const auto behind = std::find_if(same_.begin() + static_cast<ptrdiff_t>(before_), same_.end(),
                                     [&](const Launch& each) { return each.number > number; });
    before_ = behind == same_.begin() ? 0 : static_cast<size_t>(behind - same_.begin()) - 1;
    if (behind == same_.begin()) return behind->process;
    if (behind == same_.end()) return same_.back().process;
    const bool is_before = number - same_[before_].number <= behind->number - number;
    return is_before ? same_[before_].process : behind->process;
  }

 private:
  static constexpr size_t kMostSame = 65'536;

  void Collect(int64_t correlation) {
    correlation_ = correlation;
    same_.clear();
    before_ = 0;
    for (; more_ && next_.correlation <= correlation; more_ = rows_.Next(&next_)) {
      if (next_.correlation == correlation && same_.size() < kMostSame) same_.push_back(next_);
    }
  }

  RowMerge<Launch> rows_;
  Launch next_ = {};
  bool more_;
  int64_t correlation_ = 0;
  std::vector<Launch> same_;
  size_t before_ = 0;  // numbers ascend, too: the search goes on where it ended
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_LAUNCHES_H_
