// Time of a process by stage, operation, layer, GPU state and reason
// (docs/reference/semantics.md#idle-time): the rows of the process view, each divided.
#ifndef RLSCOPE_ANALYSIS_IDLE_IDLE_TIMES_H_
#define RLSCOPE_ANALYSIS_IDLE_IDLE_TIMES_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "analysis/keys/operation_paths.h"
#include "analysis/keys/row.h"
#include "analysis/process/source.h"
#include "analysis/spill/spill_table.h"
#include "analysis/threads/reasons.h"
#include "analysis/views/loop_stages.h"

namespace rlscope::analysis {

// A stretch of time in which all GPU work was recorded.
struct SeenSpan {
  int64_t start_ns;
  int64_t end_ns;
  bool is_sample;  // it was chosen at random, and stands for the time outside of such stretches
};

struct IdleRow {
  uint64_t key;  // MakeIdleKey
  int64_t duration_ns;

  bool gpu_is_known() const { return (key & kGpuIsUnknown) == 0; }
  bool is_sample() const { return (key & kIsSample) != 0; }

  Reason reason() const { return Reason((key - 1) & 15); }
  LoopStages::Stage stage() const { return LoopStages::Stage((key - 1) >> 4 & 7); }
  uint32_t row() const { return static_cast<uint32_t>((key - 1) >> 7); }

  static constexpr uint64_t kGpuIsUnknown = uint64_t{1} << 62;  // then the row says that it is idle
  static constexpr uint64_t kIsSample = uint64_t{1} << 61;
};
static_assert(static_cast<uint32_t>(Reason::kEnd) <= 16);
constexpr uint64_t MakeIdleKey(uint32_t row, LoopStages::Stage stage, Reason reason) {
  return (uint64_t{row} << 7 | uint64_t{stage} << 4 | uint64_t(reason)) + 1;
}

struct IdleResult {
  OperationPaths paths;
  bool has_gaps = false;
  SpillTable<IdleRow> rows;

  explicit IdleResult(const ProcessInput& input) : paths(input.names, input.most_paths) {}
};

// `loop`: as LoopStages::span() of the process's sweep. Of a process that another sweep has read a
// part of, the rows are of the rest. `seen`: by time, apart from each other. Elsewhere the state of
// the GPU is not known. Null: it is known everywhere.
std::unique_ptr<IdleResult> FindIdle(const ProcessInput& input, const LoopSpan& loop,
                                     const std::vector<SeenSpan>* seen);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_IDLE_IDLE_TIMES_H_
