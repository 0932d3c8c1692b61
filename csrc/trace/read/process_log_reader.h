// DIR/processes.log as the analysis reads it: once, whole, every record whose checksum holds.
#ifndef RLSCOPE_TRACE_READ_PROCESS_LOG_READER_H_
#define RLSCOPE_TRACE_READ_PROCESS_LOG_READER_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "trace/layout/shared_pages.h"
#include "trace/read/reader.h"

namespace rlscope::trace {

// Intact records in the order of the log; what lies between them is damage. `label` stands in the
// problems.
std::vector<ProcessRecord> ParseProcessLog(const uint8_t* data, size_t size,
                                           const std::string& label,
                                           std::vector<Problem>* problems);

// The same for a file, of which at most kMostLogBytes are read. A missing file gives no records and
// no error.
base::Status ReadProcessLog(const std::string& path, std::vector<ProcessRecord>* records,
                            std::vector<Problem>* problems);

// The log's notes on the run as a whole.
struct RunNotes {
  // Folder of the rings; empty when the log does not tell it, or not all of it.
  std::string rings;
  // Directories of runs that processes of this run recorded, each once.
  std::vector<std::string> nested;
  // From the first start of the run's window to its last stop; no end while it is open, and no
  // start if it never was.
  int64_t first_start_ns = INT64_MIN;
  int64_t last_stop_ns = INT64_MAX;
};

// Removes the records that belong to no process.
RunNotes TakeRunNotes(std::vector<ProcessRecord>* log);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_PROCESS_LOG_READER_H_
