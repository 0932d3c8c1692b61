// Reads a trace of XProf, the profiler of JAX and TensorFlow: its Chrome trace, in which each
// "process" is a plane of one process: its host threads, a device, lines that XProf derived.
#ifndef RLSCOPE_IMPORTERS_XPROF_H_
#define RLSCOPE_IMPORTERS_XPROF_H_

#include <stdint.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/byte_source.h"
#include "importers/imported_rows.h"
#include "importers/json_reader.h"
#include "importers/spill_file.h"
#include "importers/trace_event.h"

namespace rlscope::importers {

class XprofScan {
 public:
  // Does not own the file. `operations`: names that the user annotated; no row says which those
  // are.
  XprofScan(SpillFile* spill, const std::vector<std::string>& operations);
  XprofScan(const XprofScan&) = delete;
  XprofScan& operator=(const XprofScan&) = delete;

  // Throws FormatError, std::system_error, and what the source throws.
  void Read(ByteSource* source);

  const ImportedRows& rows() const { return rows_; }
  // Those of the names that some row had.
  std::vector<std::string> operations() const;

 private:
  // What a row's pid means; for a GPU, its number too.
  struct Plane {
    enum { kOther, kHost, kGpu } is = kOther;
    uint32_t device = 0;
    std::string name;
  };

  struct Line {
    std::string name;
  };
  struct Annotation {
    bool has_rows = false;
  };

  void ReadEvents(JsonReader* reader);
  void ChooseMainThread();
  void TakeMetadata();
  const char* TakeInterval(std::string* what);
  const char* TakeHostRow(const Interval& interval, std::string* what);
  const char* TakePython(uint32_t thread, const Interval& interval);
  const char* TakeGpuRow(const Plane& plane, const Interval& interval, std::string* what);
  bool ReadInterval(Interval* interval) const;
  std::optional<uint32_t> FindThread();

  ImportedRows rows_;
  std::map<std::string, Annotation> annotations_;     // by name
  std::unordered_map<std::string, Plane> planes_;     // by pid
  std::unordered_map<std::string, Line> line_names_;  // by pid and tid
  bool has_events_ = false;
  TraceEvent event_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_XPROF_H_
