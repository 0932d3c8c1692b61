// Reads the records that are left in the rings of live or killed processes, without changing them.
#ifndef RLSCOPE_TRACE_DIRECTORY_SALVAGE_H_
#define RLSCOPE_TRACE_DIRECTORY_SALVAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "trace/read/reader.h"

namespace rlscope::trace {

// One file in memory per process image that has a page in `rings`; a folder that is not there
// has none. Call it before the trace files are opened: what a live drainer moves from a ring to a
// file in between is then found twice, and dropped once, instead of never.
std::vector<std::unique_ptr<TraceFile>> SalvageRings(const std::string& rings,
                                                     std::vector<Problem>* problems);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DIRECTORY_SALVAGE_H_
