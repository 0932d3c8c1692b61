// One process of a trace directory as the input of a sweep.
#ifndef RLSCOPE_ANALYSIS_SWEEP_TRACE_SOURCE_H_
#define RLSCOPE_ANALYSIS_SWEEP_TRACE_SOURCE_H_

#include <stdint.h>

#include <functional>
#include <vector>

#include "analysis/process/history.h"
#include "analysis/process/source.h"
#include "trace/directory/directory.h"

namespace rlscope::analysis {

// Later than all times of a trace: the end of a process that may go on.
constexpr int64_t kLatestNs = base::ClockConverter::kMaxNs;

// `image` must outlive the input and every stream opened from it. Only threads with items or CUDA
// calls are in it.
ProcessInput MakeInput(const trace::ProcessImage& image);

// The same for a trace file alone, from its own chunks.
ProcessInput MakeInput(const trace::ProcessTrace& process, int64_t start_ns, int64_t end_ns,
                       int64_t python_begin_ns, int64_t python_end_ns);

// The same of a process that may go on, to be rolled up: image.trace is not null.
ProcessInput MakeUnfinishedInput(const trace::ProcessImage& image);

// The items that concern the process as a whole: from the rolled-up part, and from the chunks that
// are wanted. An archive of the process begins with them.
using IsWantedChunk = std::function<bool(const trace::CpuChunkRef&)>;
void CarryItemsOf(const trace::ProcessTrace& process, const IsWantedChunk& wanted,
                  trace::Archive* archive);

// When the thread with this place in process.threads() first recorded, and ended.
trace::RolledUpThread FindRolledUpThread(const trace::ProcessTrace& process, size_t index);

struct TimeRange {
  int64_t start_ns;
  int64_t end_ns;
};
// First window's start and last window's end.
TimeRange FindRange(const trace::ProcessImage& image);

// Row n is iteration n, as a sweep finds them.
SpillVector<IterationRow> FindIterations(const trace::ProcessImage& image);

// When each thread with records lived, within that range
// (docs/reference/semantics.md#threads-and-layers; corners: semantics-notes.md#threads).
struct ThreadLife {
  trace::Thread thread;
  int64_t start_ns;
  int64_t end_ns;
};
std::vector<ThreadLife> FindLives(const trace::ProcessImage& image);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_TRACE_SOURCE_H_
