// The records of processes.log and the traces of a directory -> one row per process image, with
// parents and ends (docs/reference/semantics.md#process). Pure: touches no file.
#ifndef RLSCOPE_TRACE_DIRECTORY_PROCESS_IMAGES_H_
#define RLSCOPE_TRACE_DIRECTORY_PROCESS_IMAGES_H_

#include <stdint.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/layout/shared_pages.h"
#include "trace/read/process_trace.h"

namespace rlscope::trace {

// How a process's end_ns was found.
enum class Ended {
  kExit,        // an exit path was seen: its reading
  kGone,        // the drainer's reading when it saw the process gone
  kLastRecord,  // neither: the last record, or the last line of the log
  kRunning,     // it still runs: its last record so far
};
const char* ToText(Ended ended);  // "exit", "gone", "last_record", "running"

constexpr int64_t kUnknownNs = INT64_MIN;  // times and CPU times that were not written

// One executed image of one pid.
struct ProcessImage {
  uint32_t os_pid = 0;
  int64_t parent_index = -1;  // in the same vector; -1 unknown
  uint32_t parent_pid = 0;    // as the process saw it; 0 unknown
  uint64_t start_time = 0;
  uint64_t pid_namespace = 0;
  int64_t began_ns = 0;  // identifies the image
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // >= start_ns
  int64_t gone_ns =
      0;  // end_ns before the run's windows and a cut moved it: when the process ended
  Ended ended = Ended::kLastRecord;
  int exit_code = -1;  // -1 unknown
  std::string comm, name, program, python;
  std::string arguments;  // what its interpreter runs, a few words; "" unknown
  int64_t python_begin_ns = kUnknownNs;
  int64_t python_end_ns = kUnknownNs;
  int64_t cpu_ns = kUnknownNs;
  int64_t profiler_cpu_ns = kUnknownNs;
  int64_t exit_flush_ns = kUnknownNs;
  bool had_rings = false;  // it said so when it ended
  bool refused = false;    // it said that it could not make its files
  bool forked = false;
  bool late_attach = false;
  int64_t late_attach_ns = kUnknownNs;  // from the kernel's start of the process to began_ns
  uint32_t forks = 0;
  std::unique_ptr<ProcessTrace> trace;  // null: it recorded nothing
};

// Whether the image's process runs now; asked only of images without a known end.
using IsRunning = std::function<bool(const ProcessImage&)>;

// Rows in order of began_ns. A trace whose process the log does not know gets a row of its own.
std::vector<ProcessImage> BuildProcessImages(const std::vector<ProcessRecord>& log,
                                             std::vector<std::unique_ptr<ProcessTrace>> traces,
                                             const IsRunning& is_running);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DIRECTORY_PROCESS_IMAGES_H_
