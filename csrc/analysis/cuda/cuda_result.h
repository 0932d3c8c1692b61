// The rows of the relations of CUDA: calls and GPU work by operation.
#ifndef RLSCOPE_ANALYSIS_CUDA_CUDA_RESULT_H_
#define RLSCOPE_ANALYSIS_CUDA_CUDA_RESULT_H_

#include <stdint.h>

#include <array>
#include <vector>

#include "analysis/cuda/sync_waits.h"
#include "analysis/gpu/gpu_kinds.h"
#include "analysis/keys/key.h"
#include "analysis/keys/operation_paths.h"
#include "analysis/process/source.h"
#include "analysis/spill/spill_table.h"
#include "analysis/views/loop_stages.h"

namespace rlscope::analysis {

// In place of a path: the trace has no launch of this GPU work.
constexpr uint32_t kUnlinkedPath = kPathMask;

struct ApiCallRow {
  uint64_t key;  // (name << 15 | path) + 1
  uint64_t calls;
  uint64_t errors;
  uint64_t with_work;  // calls that launched some GPU work
  int64_t duration_ns;

  uint32_t name() const { return static_cast<uint32_t>((key - 1) / (kPathMask + 1)); }
  uint32_t path() const { return static_cast<uint32_t>(key - 1) & kPathMask; }
};

// Work of one kind, of one stream and operation.
struct GpuWorkRow {
  uint64_t key;  // (stream << 42 | what << 15 | path) + 1
  uint64_t count;
  uint64_t bytes;
  uint64_t launch_bound;  // the stream was idle at the end of the launch call
  int64_t duration_ns;
  int64_t min_ns;
  int64_t max_ns;

  uint32_t stream() const { return static_cast<uint32_t>((key - 1) >> 42); }
  // As the kind's GpuKey says: a name, a number of a graph, or `how`
  // (trace/layout/cuda_interval.h).
  uint32_t what() const { return static_cast<uint32_t>((key - 1) >> 15) & kWhatMask; }
  uint32_t path() const { return static_cast<uint32_t>(key - 1) & kPathMask; }

  static constexpr uint32_t kWhatMask = (1u << 27) - 1;
};

struct DeviceTime {
  uint32_t device;
  std::vector<int64_t> while_ns;     // by path
  std::vector<int64_t> launched_ns;  // by path, unlinked work among them
};

// What the calls of one iteration launched.
struct IterationWorkRow {
  uint64_t key;  // number of the iteration + 1
  int64_t kernels;
  int64_t busy_ns;
};

// CUDA calls of one stack, stage and operation, and the GPU time of what they launched.
struct SiteRow {
  uint64_t key;  // MakeSiteKey
  uint64_t calls;
  int64_t gpu_ns;

  uint32_t site() const { return static_cast<uint32_t>((key - 1) >> 18); }
  LoopStages::Stage stage() const { return LoopStages::Stage((key - 1) >> 15 & 7); }
  uint32_t path() const { return static_cast<uint32_t>(key - 1) & kPathMask; }
};
constexpr uint64_t MakeSiteKey(uint32_t site, LoopStages::Stage stage, uint32_t path) {
  return (uint64_t{site} << 18 | uint64_t{stage} << 15 | path) + 1;
}

struct CudaResult {
  OperationPaths paths;
  bool has_gaps = false;
  SpillTable<ApiCallRow> api_calls;
  std::array<SpillTable<GpuWorkRow>, kGpuKindCount> work;  // by kind
  SyncWaits syncs;
  std::vector<DeviceTime> devices;
  uint64_t unlinked = 0;                    // pieces of GPU work with no launch
  SpillTable<IterationWorkRow> iterations;  // those that launched work
  SpillTable<SiteRow> sites;
  bool has_sites = false;  // the stack of a call is known; else there are no rows of them

  explicit CudaResult(const ProcessInput& input)
      : paths(input.names, input.most_paths), syncs(input.gpu) {}
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_CUDA_RESULT_H_
