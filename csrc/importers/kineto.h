// Reads a trace of torch.profiler: Kineto's Chrome trace (JSON), which names times in microseconds
// and is sorted by nothing.
//
//   KinetoScan scan(&spill);
//   scan.Read(&source);           // everything, once; sorted rows go to the spill file
//   scan.WriteTo(&file, shift);   // the process, in rlscope's format
#ifndef RLSCOPE_IMPORTERS_KINETO_H_
#define RLSCOPE_IMPORTERS_KINETO_H_

#include <stdint.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/byte_source.h"
#include "importers/json_reader.h"
#include "importers/name_table.h"
#include "importers/process_writer.h"
#include "importers/row_sorter.h"
#include "importers/rows.h"
#include "importers/spill_file.h"
#include "importers/trace_file.h"

namespace rlscope::importers {

// What the file says beside its rows.
struct KinetoFacts {
  int64_t base_ns = 0;  // baseTimeNanoseconds, which every time is relative to
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string backend;
  std::string host_name;
  std::vector<std::string> devices;   // models of the GPUs
  std::optional<int64_t> first_step;  // k of the first ProfilerStep#k
};

class KinetoScan {
 public:
  // Does not own the file.
  explicit KinetoScan(SpillFile* spill) : spill_(spill), thread_rows_(spill), gpu_rows_(spill) {}
  KinetoScan(const KinetoScan&) = delete;
  KinetoScan& operator=(const KinetoScan&) = delete;

  // Throws FormatError, std::system_error, and what the source throws.
  void Read(ByteSource* source);

  const KinetoFacts& facts() const { return facts_; }
  // Rows that became part of the trace, by category; and those that did not, by phase and category.
  const std::map<std::string, uint64_t>& taken() const { return taken_; }
  const std::map<std::string, uint64_t>& not_taken() const { return not_taken_; }
  bool empty() const { return first_ns_ > last_ns_; }
  bool has_gpu_work() const { return has_gpu_work_; }
  // From the first start to the last end of what was taken, without facts().base_ns.
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }
  // Of the process whose threads have most rows, 0 where it is no number.
  uint32_t os_pid() const;
  std::string process_name() const;

  // Whether a thread of it is known to be one of Python.
  bool has_python() const;

  struct Losses {
    uint64_t names;     // rows whose name had no room
    uint64_t too_deep;  // operations inside of too many others
  };
  // `shift_ns` is added to every time. The file's end is the caller's.
  Losses WriteTo(TraceFile* file, int64_t shift_ns) const;

 private:
  // One row of traceEvents, as text where it is not looked at by every kind of row.
  struct Event {
    std::string phase, category, name, pid, tid, ts, dur;
    std::string argument_name;  // args.name of a metadata row
    std::string sync_kind;
    std::optional<int64_t> correlation, device, context, stream, bytes;
  };
  struct Thread {
    std::string pid, tid, name;
    uint64_t rows = 0;
    bool is_python = false;
  };
  enum class Category;

  void ReadFile(JsonReader* reader);
  void ReadDistributed(JsonReader* reader);
  void ReadDevices(JsonReader* reader);
  void ReadEvents(JsonReader* reader);
  void ReadEvent(JsonReader* reader);
  void ReadArguments(JsonReader* reader);
  void TakeEvent();
  void TakeMetadata();
  bool TakeInterval(Category category);
  bool TakeThreadRow(Category category, int64_t start_ns, int64_t duration_ns);
  bool TakeGpuRow(Category category, int64_t start_ns, int64_t duration_ns);
  void TakeStep(uint32_t thread, int64_t start_ns, int64_t end_ns);
  void EndLastStep();
  std::optional<uint32_t> FindThread();
  std::optional<uint32_t> FindStream();
  void Extend(int64_t start_ns, int64_t end_ns);
  static void Count(std::map<std::string, uint64_t>* counts, const std::string& what);
  const Thread* MainThread() const;
  std::vector<ImportedThread> Threads() const;

  SpillFile* const spill_;
  KinetoFacts facts_;
  RowSorter<ThreadRow> thread_rows_;
  RowSorter<GpuRow> gpu_rows_;
  NameTable names_;
  std::unordered_map<std::string, uint32_t> thread_numbers_;  // by pid and tid
  std::vector<Thread> threads_;
  std::map<ImportedStream, uint32_t> stream_numbers_;
  std::vector<ImportedStream> streams_;
  std::map<std::string, std::string> process_names_;  // by pid
  std::map<std::string, uint64_t> taken_;
  std::map<std::string, uint64_t> not_taken_;
  bool has_events_ = false;
  bool has_gpu_work_ = false;
  int64_t first_ns_ = INT64_MAX;
  int64_t last_ns_ = INT64_MIN;
  uint64_t number_ = 0;  // of the row
  Event event_;
  std::string key_;
  // The thread that steps, and the end of its last step.
  std::optional<uint32_t> stepping_;
  int64_t last_step_ns_ = 0;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_KINETO_H_
