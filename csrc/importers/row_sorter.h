// Sorts any number of rows with a bounded amount of memory: sorted runs go to a file, and are
// merged when they are read back.
#ifndef RLSCOPE_IMPORTERS_ROW_SORTER_H_
#define RLSCOPE_IMPORTERS_ROW_SORTER_H_

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <type_traits>
#include <vector>

#include "importers/spill_file.h"

namespace rlscope::importers {

// Where a sorted run lies.
struct SortedRun {
  uint64_t offset;
  uint64_t rows;
};

template <class Row>
class RowSorter {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  static constexpr size_t kDefaultBytes = 24 << 20;

  // Does not own the file. `bytes`: most memory for rows that are not sorted yet.
  explicit RowSorter(SpillFile* file, size_t bytes = kDefaultBytes)
      : file_(file), most_(std::max<size_t>(bytes / sizeof(Row), 1)) {}

  void Add(const Row& row) {
    if (rows_.size() == most_) Spill();
    rows_.push_back(row);
  }

  // All rows are there; their memory is free again.
  void Finish() {
    Spill();
    std::vector<Row>().swap(rows_);
  }

  const std::vector<SortedRun>& runs() const { return runs_; }

 private:
  void Spill() {
    if (rows_.empty()) return;
    std::sort(rows_.begin(), rows_.end());
    runs_.push_back({file_->Append(rows_.data(), rows_.size() * sizeof(Row)), rows_.size()});
    rows_.clear();
  }

  SpillFile* const file_;
  const size_t most_;
  std::vector<Row> rows_;
  std::vector<SortedRun> runs_;
};

// The rows of sorted runs in order.
template <class Row>
class RowMerge {
 public:
  RowMerge(const SpillFile& file, const std::vector<SortedRun>& runs) : file_(file) {
    constexpr size_t kBytes = 32 << 20, kLeast = 64;
    const size_t piece = std::max(kBytes / sizeof(Row) / std::max<size_t>(runs.size(), 1), kLeast);
    for (const SortedRun& run : runs) {
      if (run.rows == 0) continue;
      pieces_.push_back({run, std::min<uint64_t>(piece, run.rows), {}, 0});
      Refill(&pieces_.back());
    }
    for (size_t i = 0; i < pieces_.size(); ++i) heads_.push({pieces_[i].rows[0], i});
  }

  // False: there is none any more.
  bool Next(Row* row) {
    if (heads_.empty()) return false;
    const Head head = heads_.top();
    heads_.pop();
    *row = head.row;
    Piece* piece = &pieces_[head.piece];
    if (++piece->at == piece->rows.size()) Refill(piece);
    if (piece->at < piece->rows.size()) heads_.push({piece->rows[piece->at], head.piece});
    return true;
  }

 private:
  struct Piece {
    SortedRun left;  // still to be read
    size_t most;
    std::vector<Row> rows;
    size_t at;
  };
  struct Head {
    Row row;
    size_t piece;
    bool operator>(const Head& other) const { return other.row < row; }
  };

  void Refill(Piece* piece) {
    piece->rows.resize(std::min<uint64_t>(piece->most, piece->left.rows));
    piece->at = 0;
    const size_t bytes = piece->rows.size() * sizeof(Row);
    file_.Read(piece->left.offset, piece->rows.data(), bytes);
    piece->left.offset += bytes;
    piece->left.rows -= piece->rows.size();
  }

  const SpillFile& file_;
  std::vector<Piece> pieces_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_ROW_SORTER_H_
