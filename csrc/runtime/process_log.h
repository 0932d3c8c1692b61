// DIR/processes.log, the producer's side: one 128-byte record, one append.
#ifndef RLSCOPE_RUNTIME_PROCESS_LOG_H_
#define RLSCOPE_RUNTIME_PROCESS_LOG_H_

#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {

// A record with magic, version and everything that identifies this process image filled in.
trace::ProcessRecord MakeRecord(trace::ProcessEvent event);

// Appends `count` (at most 2) records to <directory>/processes.log in one write, after computing
// their checksums. Returns 0 or -errno. Uses OpenHidden(): call it in RunDetached(), or from the
// constructor.
int AppendRecords(const char* directory, trace::ProcessRecord* records, int count);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_PROCESS_LOG_H_
