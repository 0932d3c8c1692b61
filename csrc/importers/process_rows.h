// The rows of one process, as an importer finds them: in any order, and any number of them. What an
// importer says of a row is what it is; sorting and writing are the same for all.
//
//   ProcessRows rows(&spill, RowOrder::kAsInFile);
//   const auto thread = rows.FindThread("7");
//   rows.AddCall(*thread, trace::Layer::kFramework, "aten::mm", {10, 30});
//   rows.Finish();
//   rows.WriteTo(&file, shift);
#ifndef RLSCOPE_IMPORTERS_PROCESS_ROWS_H_
#define RLSCOPE_IMPORTERS_PROCESS_ROWS_H_

#include <stddef.h>
#include <stdint.h>

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

// Rows by what they are. A file of a stranger may have as many kinds as it likes: what goes beyond
// is counted together.
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

class ProcessRows {
 public:
  // A file of a stranger may have as many as it likes; beyond these there is none to be found.
  static constexpr size_t kMostThreads = 65'536;
  static constexpr size_t kMostStreams = 65'536;

  // Of the rows that are not sorted yet, for threads and for GPUs each, and of all names.
  struct Memory {
    size_t sort_bytes = RowSorter<ThreadRow>::kDefaultBytes;
    size_t name_bytes = NameTable::kMostBytes;
  };

  // Does not own the file.
  ProcessRows(SpillFile* spill, RowOrder order) : ProcessRows(spill, order, Memory()) {}
  ProcessRows(SpillFile* spill, RowOrder order, const Memory& memory);
  ProcessRows(const ProcessRows&) = delete;
  ProcessRows& operator=(const ProcessRows&) = delete;

  // Finds, or adds, the thread or stream. Nothing: there are too many.
  std::optional<uint32_t> FindThread(const std::string& key);
  std::optional<uint32_t> FindStream(const ImportedStream& stream);
  ImportedThread* thread(uint32_t number) { return &threads_[number]; }
  size_t threads() const { return threads_.size(); }
  size_t streams() const { return streams_.size(); }
  uint64_t rows_of(uint32_t thread) const { return rows_of_[thread]; }
  uint32_t FindName(trace::NameKind kind, trace::Layer layer, std::string_view text) {
    return names_.Find(kind, layer, text);
  }

  // Intervals have no problem; numbers are those that were found. All may throw std::system_error:
  // there is no room for the rows.
  // `number`: of TakeNumber(), when the row stands in the file before it is added.
  void AddOperation(uint32_t thread, uint32_t name, const Interval& interval, uint64_t number = 0);
  uint64_t TakeNumber() { return ++number_; }
  void AddCall(uint32_t thread, uint32_t name, const Interval& interval);
  void AddCudaCall(uint32_t thread, uint32_t name, const Interval& interval, int64_t correlation);
  // A function of Python: the process becomes no longer by it.
  void AddPython(uint32_t thread, const Interval& interval);
  // Begins an iteration. Where the tool says when it ends, what comes behind the last one is one
  // that is not complete; else the last one is that.
  void AddIteration(uint32_t thread, int64_t start_ns, std::optional<int64_t> end_ns);
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

  struct Losses {
    uint64_t names;     // rows whose name had no room
    uint64_t too_deep;  // operations inside of too many others
  };
  // `shift_ns` is added to every time. The file's end is the caller's.
  Losses WriteTo(TraceFile* file, int64_t shift_ns) const;

  bool empty() const { return first_ns_ > last_ns_; }
  // From the first start to the last end.
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }
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
  void Extend(const Interval& interval);

  SpillFile* const spill_;
  const RowOrder order_;
  NameTable names_;
  RowSorter<ThreadRow> thread_rows_;
  RowSorter<GpuRow> gpu_rows_;
  std::unordered_map<std::string, Place> thread_numbers_;
  std::vector<ImportedThread> threads_;
  std::vector<uint64_t> rows_of_;  // by thread
  std::map<ImportedStream, uint32_t> stream_numbers_;
  std::vector<ImportedStream> streams_;
  int64_t first_ns_ = INT64_MAX;
  int64_t last_ns_ = INT64_MIN;
  uint64_t number_ = 0;  // of the row
  bool has_gpu_work_ = false;
  // The thread that steps, and the end of its last step.
  std::optional<uint32_t> stepping_;
  std::optional<int64_t> last_step_ns_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_PROCESS_ROWS_H_
