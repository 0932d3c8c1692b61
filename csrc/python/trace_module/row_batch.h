// Rows on their way to Arrow, column by column: numbers, and words of a dictionary that is the same
// for the whole stream.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ROW_BATCH_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ROW_BATCH_H_

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rlscope::python {

// Texts that a column's cells are numbers of.
class Dictionary {
 public:
  explicit Dictionary(const std::vector<std::string>& words);

  size_t size() const { return offsets_.size() - 1; }
  const int32_t* offsets() const { return offsets_.data(); }
  const char* bytes() const { return bytes_.data(); }
  std::string_view text(size_t word) const {
    const size_t begin = static_cast<size_t>(offsets_[word]);
    return {&bytes_[begin], static_cast<size_t>(offsets_[word + 1]) - begin};
  }

 private:
  std::vector<int32_t> offsets_ = {0};  // of the words; the last one is where they end
  std::string bytes_;
};

struct Field {
  std::string name;
  std::shared_ptr<const Dictionary> words;  // null: numbers
};
using Fields = std::vector<Field>;

// The cells of one column in one batch.
class Cells {
 public:
  void Reserve(size_t rows, bool has_words) {
    has_words ? words_.reserve(rows) : numbers_.reserve(rows);
  }
  void AddNumber(int64_t value) {
    numbers_.push_back(value);
    if (!valid_.empty()) SetValid(numbers_.size() - 1);
  }
  void AddWord(int32_t word) {
    words_.push_back(word);
    if (!valid_.empty()) SetValid(words_.size() - 1);
  }
  void AddNull(bool has_words) {
    if (valid_.empty()) ValidateAll();
    has_words ? words_.push_back(0) : numbers_.push_back(0);
    GrowValid();
    ++nulls_;
  }

  size_t nulls() const { return nulls_; }
  bool IsValid(size_t row) const {
    return nulls_ == 0 || (row / 8 < valid_.size() && (valid_[row / 8] >> row % 8 & 1) != 0);
  }
  const std::vector<int64_t>& numbers() const { return numbers_; }
  const std::vector<int32_t>& words() const { return words_; }
  const void* values() const {
    return words_.empty() ? static_cast<const void*>(numbers_.data()) : words_.data();
  }
  // A bit for each row, the lowest first; null where all are valid.
  const uint8_t* valid() const { return nulls_ == 0 ? nullptr : valid_.data(); }

 private:
  size_t size() const { return numbers_.size() + words_.size(); }
  void GrowValid() { valid_.resize((size() + 7) / 8); }
  void SetValid(size_t row) {
    GrowValid();
    valid_[row / 8] = static_cast<uint8_t>(valid_[row / 8] | 1u << row % 8);
  }
  // Rows before the first null were not marked.
  void ValidateAll() {
    valid_.reserve(1);
    for (size_t row = 0; row < size(); ++row) SetValid(row);
    if (valid_.empty()) valid_.push_back(0);
  }

  std::vector<int64_t> numbers_;
  std::vector<int32_t> words_;
  std::vector<uint8_t> valid_;
  size_t nulls_ = 0;
};

struct RowBatch {
  size_t rows = 0;
  std::vector<Cells> columns;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ROW_BATCH_H_
