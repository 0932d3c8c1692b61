// The part of a sweep's archive that every pass over the threads of a process reads: the threads,
// and who owned the process (sweeper_archive.cc).
#ifndef RLSCOPE_ANALYSIS_SWEEP_THREAD_ARCHIVE_H_
#define RLSCOPE_ANALYSIS_SWEEP_THREAD_ARCHIVE_H_

#include "analysis/process/process_state.h"
#include "analysis/sweep/streams.h"
#include "analysis/threads/owner_calls.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

void CarryThreads(trace::Archive* archive, OperationPaths* paths, Streams* streams);
// After CarryThreads().
void CarryOwner(trace::Archive* archive, const Streams& streams, uint32_t paths, ThreadTable* table,
                ProcessInstant* instant, OwnerCalls* calls);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_THREAD_ARCHIVE_H_
