// Rows that are made while somebody reads them, as a Python object that any reader of Arrow takes
// (`__arrow_c_stream__`). A thread makes them, a few batches ahead, so memory does not depend on
// their number.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ROW_STREAM_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ROW_STREAM_H_

#include <nanobind/nanobind.h>
#include <stddef.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "python/trace_module/row_batch.h"

namespace rlscope::python {

constexpr size_t kBatchRows = 1 << 14;

// Between the thread that makes batches and the one that takes them.
class BatchQueue {
 public:
  // Waits while it is full. False: there is no reader any more.
  bool Put(std::unique_ptr<RowBatch> batch);
  // `error` is empty where all rows were made.
  void Finish(const std::string& error);
  // Waits for a batch; null at the end. *error: why rows are missing.
  std::unique_ptr<RowBatch> Take(std::string* error);
  // Nothing is taken any more.
  void Abandon();

 private:
  static constexpr size_t kMost = 2;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<RowBatch>> batches_;
  bool finished_ = false;
  bool abandoned_ = false;
  std::string error_;
};

// Thrown through whatever makes the rows when there is no reader any more.
struct Abandoned {};

// Used by the thread that makes rows: cell by cell, column by column.
class RowWriter {
 public:
  RowWriter(const Fields& fields, BatchQueue* queue);

  void Number(int64_t value) { batch_->columns[column_++].AddNumber(value); }
  void NumberOrNull(bool known, int64_t value) { known ? Number(value) : Null(); }
  void Word(size_t word) { batch_->columns[column_++].AddWord(static_cast<int32_t>(word)); }
  void Null() {
    batch_->columns[column_].AddNull(fields_[column_].words != nullptr);
    ++column_;
  }
  // Throws Abandoned.
  void EndRow() {
    column_ = 0;
    if (++batch_->rows == kBatchRows) Flush();
  }
  void Flush();

 private:
  void BeginBatch();

  const Fields& fields_;
  BatchQueue* const queue_;
  std::unique_ptr<RowBatch> batch_;
  size_t column_ = 0;
};

// What rows are made of, read once; then each reader has a pass of its own over them.
struct RowSource {
  Fields fields;
  std::function<void(RowWriter*)> make;
};

// A Python object with __arrow_c_stream__(). `open` is called for each reader, without the GIL.
class RowStream {
 public:
  explicit RowStream(std::function<RowSource()> open) : open_(std::move(open)) {}
  // A capsule that holds an ArrowArrayStream.
  nanobind::object ToCapsule() const;
  // All rows at once, column by column: an array of numbers, or a list where there are texts or
  // None. For streams that are known to be short.
  nanobind::dict ToColumns() const;

 private:
  const std::function<RowSource()> open_;
};

void AddRowStream(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ROW_STREAM_H_
