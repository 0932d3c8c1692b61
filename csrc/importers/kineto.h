// Reads a trace of torch.profiler: Kineto's Chrome trace (JSON). It gives times in microseconds,
// and its rows are in no order.
//
//   KinetoScan scan(&spill);
//   scan.Read(&source);                // everything, once; sorted rows go to the spill file
//   scan.rows(0).WriteTo(&file, shift); // a process, in rlscope's format
//
// A file belongs to one process, unless a tool merged several: then each pid in the rows of threads
// is a process. Rows of GPUs have no pid. They belong to the process of their launch, found by
// correlation id. If several processes have such a launch, the nearest one in the file decides. If
// none has, they belong to the process whose rows of threads stand before them.
#ifndef RLSCOPE_IMPORTERS_KINETO_H_
#define RLSCOPE_IMPORTERS_KINETO_H_

#include <stdint.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "importers/byte_source.h"
#include "importers/imported_rows.h"
#include "importers/json_reader.h"
#include "importers/spill_file.h"
#include "importers/trace_event.h"

namespace rlscope::importers {

// What the file says beside its rows.
struct KinetoFacts {
  int64_t base_ns = 0;  // baseTimeNanoseconds, which every time is relative to
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string backend;
  std::string host_name;
  std::vector<std::string> devices;  // models of the GPUs
};

class KinetoScan {
 public:
  static constexpr size_t kMostProcesses = 64;

  // Does not own the file.
  explicit KinetoScan(SpillFile* spill);
  KinetoScan(const KinetoScan&) = delete;
  KinetoScan& operator=(const KinetoScan&) = delete;

  // Throws FormatError, std::system_error, and what the source throws.
  void Read(ByteSource* source);

  const KinetoFacts& facts() const { return facts_; }
  // By categories; rows that were not taken by phase and category. Without facts().base_ns.
  size_t processes() const { return processes_.size(); }
  const ImportedRows& rows(size_t process) const { return processes_[process]->rows; }

 private:
  enum class Category;
  struct ProcessName {
    std::string text;
  };
  struct Process {
    Process(SpillFile* spill, const ImportedRows::Memory& memory)
        : rows(spill, RowOrder::kAsInFile, memory) {}
    ImportedRows rows;
    std::optional<std::string> pid;  // nothing: no row of a thread stands before it yet
  };

  void ReadFile(JsonReader* reader);
  void ReadDistributed(JsonReader* reader);
  void ReadDevices(JsonReader* reader);
  void ReadEvents(JsonReader* reader);
  void TakeEvent();
  void TakeMetadata();
  const char* TakeInterval(Category category);
  const char* TakeThreadRow(Category category, const Interval& interval);
  const char* TakePython(const Interval& interval);
  const char* TakeGpuRow(Category category, const Interval& interval);
  void TakeStep(uint32_t thread, const Interval& interval);
  bool FindProcess();
  std::optional<uint32_t> FindThread();
  std::optional<uint32_t> FindStream();
  void PlaceGpuRows();
  void NameProcesses();

  SpillFile* const spill_;
  KinetoFacts facts_;
  std::vector<std::unique_ptr<Process>> processes_;   // at least one
  Process* current_;                                  // of the last row of a thread
  std::map<std::string, ProcessName> process_names_;  // by pid
  std::map<std::string, std::string> thread_names_;   // by TraceEvent::ThreadKey()
  uint64_t events_ = 0;                               // rows so far
  bool has_events_ = false;
  TraceEvent event_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_KINETO_H_
