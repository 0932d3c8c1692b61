// The input of a sweep: one process as streams of batches. trace_source.h makes it from the
// files of a trace; tests and benchmarks make it from arrays.
#ifndef RLSCOPE_ANALYSIS_PROCESS_SOURCE_H_
#define RLSCOPE_ANALYSIS_PROCESS_SOURCE_H_

#include <stdint.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/keys/operation_paths.h"
#include "analysis/process/history.h"
#include "analysis/spill/spill_vector.h"
#include "trace/read/cursor.h"
#include "trace/read/process_trace.h"

namespace rlscope::analysis {

// A stream of batches in time order; each is valid until the next call. Null at the end.
template <class Batch>
class Source {
 public:
  virtual ~Source() = default;
  virtual const Batch* Next() = 0;
  // After the end: what the reader had to move or leave out.
  virtual uint64_t clamped() const { return 0; }
  virtual uint64_t undecodable_chunks() const { return 0; }
  // Before the batch that was given last, and after it.
  virtual trace::CursorPlace before() const { return {}; }
  virtual trace::CursorPlace after() const { return {}; }
};
using CpuSource = Source<trace::CpuBatch>;
using CudaCallSource = Source<trace::CudaCallBatch>;
using GpuSource = Source<trace::GpuBatch>;

using ResumeItems = std::function<std::unique_ptr<CpuSource>(const trace::CursorPlace& from)>;

// Streams are opened when the sweep reaches them, because an open one holds a decoded chunk.
struct ThreadInput {
  uint32_t thread = 0;
  uint32_t os_tid = 0;
  bool is_python = false;
  int64_t first_ns = 0;  // of its first item or CUDA call
  uint64_t weight = 0;   // items, about: decides its place in the merge
  std::function<std::unique_ptr<CpuSource>()> open_items;                         // may be empty
  std::function<std::unique_ptr<CudaCallSource>(trace::Detail)> open_cuda_calls;  // may be empty
  // The items from where another source stood; not empty where ProcessInput::saved is something.
  ResumeItems resume_items;
};

// A process's records of one CUDA stream; synchronisations name no device (0).
struct GpuInput {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  int64_t first_ns = 0;
  uint64_t weight = 0;
  std::function<std::unique_ptr<GpuSource>(trace::Detail)> open;
};

struct ProcessInput {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t main_os_tid = 0;  // os_pid
  int64_t python_begin_ns = kUnknownTime;
  int64_t python_end_ns = kUnknownTime;
  std::vector<trace::Name> names;
  std::vector<ThreadInput> threads;  // by number; only those with items or CUDA calls
  std::vector<GpuInput> gpu;
  uint32_t most_paths = kMaxPaths;         // further ones are (other); fewer in tests
  uint64_t undecodable_chunks = 0;         // of threads that are left out for it
  SpillVector<ProcessItem> process_items;  // by time; ties: thread, order of recording
  std::vector<trace::Span> states;         // payloads of StatesChunk, in order of time
  std::vector<trace::Span> stacks;         // payloads of StacksChunk
  // Records may follow those that are here: where a stream ends, its thread does not. `end_ns` is
  // later than all of them.
  bool unfinished = false;
  // The state of a sweep of the part before, to go on from (sweep/sweeper_archive.cc).
  std::optional<trace::Archive> saved;
  int64_t saved_until_ns = INT64_MIN;  // what comes late of the time before counts from here on
  std::atomic<int64_t>* reached_ns = nullptr;  // how far a pass has come, for others to look at

  static constexpr int64_t kUnknownTime = INT64_MIN;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_SOURCE_H_
