// The rows of one process, as an importer finds them: in any order, and any number of them. An
// importer says what each row is; sorting and writing are the same for all importers.
//
//   ImportedRows rows(&spill, RowOrder::kAsInFile);
//   const auto thread = rows.FindThread("7");
//   rows.AddCall(*thread, trace::Layer::kFramework, "aten::mm", {10, 30});
//   rows.Finish();
//   rows.WriteTo(&file, shift);
#ifndef RLSCOPE_IMPORTERS_IMPORTED_ROWS_H_
#define RLSCOPE_IMPORTERS_IMPORTED_ROWS_H_

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/name_table.h"
#include "importers/process_writer.h"
#include "importers/row_sorter.h"
#include "importers/rows.h"
#include "importers/spill_file.h"
#include "importers/trace_file.h"

namespace rlscope::importers {

// Which of two rows of a thread that start at once holds the other one.
enum class RowOrder : uint32_t { kAsInFile, kLongestFirst };

// Nanoseconds, by the file's own clock.
struct Interval {
  int64_t start_ns;
  int64_t end_ns;
};

// What is wrong with an interval, in a word or two; null: nothing. Sums of two times must fit.
const char* ProblemOf(const Interval& interval);

// Rows by what they are. A stranger's file may have any number of kinds: those beyond a limit are
// counted together.
class RowCounts {
 public:
  void Add(const std::string& what, uint64_t count = 1);
  struct Rows {
    uint64_t count = 0;
  };
  const std::map<std::string, Rows>& by_kind() const { return by_kind_; }

 private:
  std::map<std::string, Rows> by_kind_;
};

class ImportedRows {
 public:
  // A stranger's file may have any number of them; no more than these are found.
  static constexpr size_t kMostThreads = 65'536;
  static constexpr size_t kMostStreams = 65'536;
  static constexpr size_t kMostSteps = 65'536;

  // For the rows that are not sorted yet, of threads and of GPUs each; and for all names.
  struct Memory {
    size_t sort_bytes = RowSorter<ThreadRow>::kDefaultBytes;
    size_t name_bytes = NameTable::kMostBytes;
  };

  // Does not own the file.
  ImportedRows(SpillFile* spill, RowOrder order) : ImportedRows(spill, order, Memory()) {}
  ImportedRows(SpillFile* spill, RowOrder order, const Memory& memory);
  ImportedRows(const ImportedRows&) = delete;
  ImportedRows& operator=(const ImportedRows&) = delete;

  // Finds, or adds, the thread or stream. Nothing: there are too many.
  std::optional<uint32_t> FindThread(const std::string& key);
  std::optional<uint32_t> FindStream(const ImportedStream& stream);
  std::optional<uint32_t> KnownThread(const std::string& key) const;
  ImportedThread* thread(uint32_t number) { return &threads_[number]; }
  size_t threads() const { return threads_.size(); }
  size_t streams() const { return streams_.size(); }
  uint64_t rows_of(uint32_t thread) const { return rows_of_[thread]; }
  uint32_t FindName(trace::NameKind kind, trace::Layer layer, std::string_view text) {
    return names_.Find(kind, layer, text);
  }

  // Intervals have no problem; numbers are those that were found. All may throw std::system_error:
  // there is no room for the rows. `number`: what TakeNumber() gave, if the row is added later than
  // it stands in the file.
  void AddOperation(uint32_t thread, uint32_t name, const Interval& interval, uint64_t number = 0);
  uint64_t TakeNumber() { return ++number_; }
  // Numbers that are taken from now on are larger, so that processes of one file share an order.
  void SkipNumbers(uint64_t number) { number_ = std::max(number_, number); }
  void AddCall(uint32_t thread, uint32_t name, const Interval& interval);
  void AddCudaCall(uint32_t thread, uint32_t name, const Interval& interval, int64_t correlation);
  // A function of Python. It does not make the process longer.
  void AddPython(uint32_t thread, const Interval& interval);
  // Begins an iteration. If the tool says when iterations end, the time after the last one is an
  // incomplete iteration. If not, the last one is incomplete. `step`: the number that the tool
  // gives it.
  void AddIteration(uint32_t thread, int64_t start_ns, std::optional<int64_t> end_ns,
                    std::optional<int64_t> step = std::nullopt);
  struct GpuWork {
    trace::GpuKind kind;
    uint32_t name;
    int64_t correlation;
    uint64_t bytes;
    uint32_t how;
    uint32_t graph;
  };
  void AddGpu(uint32_t stream, const GpuWork& work, const Interval& interval);

  // All rows are there.
  void Finish();

  // The steps of the iterations that count, in order: those of the thread that began one first. No
  // more than kMostSteps.
  std::vector<int64_t> Steps() const;

  // For a process that is finished, when rows of GPUs turn out to be another process's.
  struct CudaCall {
    int64_t correlation;
    uint64_t number;
  };
  template <class Visit>
  void EachCudaCall(Visit visit) const {  // visit(CudaCall)
    RowMerge<ThreadRow> rows(*spill_, thread_rows_.runs());
    for (ThreadRow row; rows.Next(&row);) {
      if (row.kind == ThreadRowKind::kCudaCall) visit(CudaCall{row.correlation, row.number});
    }
  }
  template <class Visit>
  void EachGpuRow(Visit visit) const {  // visit(GpuRow, ImportedStream)
    RowMerge<GpuRow> rows(*spill_, gpu_rows_->runs());
    for (GpuRow row; rows.Next(&row);) visit(row, streams_[row.stream]);
  }
  std::string_view NameText(uint32_t number) const { return names_.Text(number); }
  // Forgets the rows of GPUs and their streams. AddGpuRow() and FinishGpu() follow.
  void ClearGpu();
  void AddGpuRow(const GpuRow& row);
  void FinishGpu() { gpu_rows_->Finish(); }

  struct Losses {
    uint64_t names;     // rows whose name had no room
    uint64_t too_deep;  // operations inside of too many others
  };
  // `shift_ns` is added to every time. The file's end is the caller's.
  Losses WriteTo(TraceFile* file, int64_t shift_ns) const;

  bool empty() const { return first_ns() > last_ns(); }
  // From the first start to the last end.
  int64_t first_ns() const { return std::min(of_threads_.first_ns, of_gpus_.first_ns); }
  int64_t last_ns() const { return std::max(of_threads_.last_ns, of_gpus_.last_ns); }
  bool has_gpu_work() const { return has_gpu_work_; }
  // Numbers of the devices that have a stream, each once.
  std::vector<uint32_t> Devices() const;
  // Whether a thread with rows is one of Python.
  bool has_python() const;

  // Rows that became part of the trace, and those that did not. The importer counts.
  RowCounts taken;
  RowCounts not_taken;
  uint32_t os_pid = 0;  // 0: not known
  std::string name;     // of the program

 private:
  void AddThreadRow(ThreadRowKind kind, uint32_t thread, uint32_t name, const Interval& interval,
                    int64_t correlation = 0, uint64_t number = 0);
  struct Extent {
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    void Add(const Interval& interval) {
      first_ns = std::min(first_ns, interval.start_ns);
      last_ns = std::max(last_ns, interval.end_ns);
    }
  };
  struct Step {
    int64_t start_ns;
    int64_t number;
    uint32_t thread;
  };

  SpillFile* const spill_;
  const RowOrder order_;
  NameTable names_;
  RowSorter<ThreadRow> thread_rows_;
  const size_t sort_bytes_;
  std::optional<RowSorter<GpuRow>> gpu_rows_;
  std::unordered_map<std::string, Place> thread_numbers_;
  std::vector<ImportedThread> threads_;
  std::vector<uint64_t> rows_of_;  // by thread
  std::map<ImportedStream, uint32_t> stream_numbers_;
  std::vector<ImportedStream> streams_;
  Extent of_threads_;
  Extent of_gpus_;
  uint64_t number_ = 0;  // of the row
  bool has_gpu_work_ = false;
  // The thread that steps, and the end of its last step.
  std::optional<uint32_t> stepping_;
  std::optional<int64_t> last_step_ns_;
  std::vector<Step> steps_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_IMPORTED_ROWS_H_
