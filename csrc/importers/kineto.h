// Reads a trace of torch.profiler: Kineto's Chrome trace (JSON), which names times in microseconds
// and is sorted by nothing.
//
//   KinetoScan scan(&spill);
//   scan.Read(&source);                // everything, once; sorted rows go to the spill file
//   scan.rows().WriteTo(&file, shift); // the process, in rlscope's format
#ifndef RLSCOPE_IMPORTERS_KINETO_H_
#define RLSCOPE_IMPORTERS_KINETO_H_

#include <stdint.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/byte_source.h"
#include "importers/json_reader.h"
#include "importers/process_rows.h"
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
  std::vector<std::string> devices;   // models of the GPUs
  std::optional<int64_t> first_step;  // k of the first ProfilerStep#k
};

class KinetoScan {
 public:
  // Does not own the file.
  explicit KinetoScan(SpillFile* spill) : rows_(spill, RowOrder::kAsInFile) {}
  KinetoScan(const KinetoScan&) = delete;
  KinetoScan& operator=(const KinetoScan&) = delete;

  // Throws FormatError, std::system_error, and what the source throws.
  void Read(ByteSource* source);

  const KinetoFacts& facts() const { return facts_; }
  // By categories; rows that were not taken by phase and category. Without facts().base_ns.
  const ProcessRows& rows() const { return rows_; }

 private:
  enum class Category;
  struct ProcessName {
    std::string text;
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
  std::optional<uint32_t> FindThread();
  std::optional<uint32_t> FindStream();
  void NameProcess();

  KinetoFacts facts_;
  ProcessRows rows_;
  std::vector<std::string> pids_;                     // of the threads
  std::map<std::string, ProcessName> process_names_;  // by pid
  bool has_events_ = false;
  TraceEvent event_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_KINETO_H_
