// Reads what the rings of live or killed processes still hold, without changing them.
#ifndef RLSCOPE_TRACE_SALVAGE_H_
#define RLSCOPE_TRACE_SALVAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "trace/reader.h"
#include "trace/shared_pages.h"

namespace rlscope::trace {

// What DIR/rings/control holds; zeros where that is no control page.
ControlPage ReadControl(const std::string& directory);

// The folder of a run's rings: what its control page says, without one what the log of processes
// says (TakeRunNotes), else DIR/rings.
std::string FindRings(const std::string& directory, const ControlPage& control,
                      const std::string& logged);

// One file in memory per process image that has a page in `rings`; a folder that is not there
// has none. Call it before the trace files are opened: what a live drainer moves from a ring to a
// file in between is then found twice, and dropped once, instead of never.
std::vector<std::unique_ptr<TraceFile>> SalvageRings(const std::string& rings,
                                                     std::vector<Problem>* problems);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_SALVAGE_H_
