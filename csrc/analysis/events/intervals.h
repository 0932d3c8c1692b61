// Every recorded interval of a process, one by one: the rows of the relation `event`. It follows
// the rules of the sweep and of cuda_relations.h, and runs their code. So sums over intervals are
// the sums of the other relations.
#ifndef RLSCOPE_ANALYSIS_EVENTS_INTERVALS_H_
#define RLSCOPE_ANALYSIS_EVENTS_INTERVALS_H_

#include <stdint.h>

#include "analysis/keys/operation_paths.h"
#include "analysis/process/source.h"

namespace rlscope::analysis {

enum class IntervalKind : uint8_t {
  kOperation,
  kCall,
  kWait,
  kCallback,
  kCudaCall,
  kGpu,
};

// In place of a path: an interval's operation is not known.
constexpr uint32_t kUnknownOperation = UINT32_MAX;

struct RecordedInterval {
  IntervalKind kind;
  trace::GpuKind gpu_kind;  // kUnknown unless `kind` is kGpu
  uint32_t thread;          // number; of GPU work none
  uint32_t name;            // id of a function's or a kernel's name; of an operation its path
  uint32_t operation;       // path
  int64_t iteration;        // in which it began; -1: in none
  int64_t start_ns;
  int64_t duration_ns;
  // Only for CUDA calls and GPU work:
  int64_t correlation;
  // Only for GPU work:
  uint32_t gpu;  // its stream, by place in the input
  uint32_t graph;
  uint64_t bytes;

  bool OfGpu() const { return kind == IntervalKind::kGpu; }
};

class IntervalSink {
 public:
  virtual ~IntervalSink() = default;
  virtual void Add(const RecordedInterval& interval) = 0;
};

// Gives all of them to the sink, in no order; those of one thread come about in the order of their
// ends. `paths` gets the operations' paths. Throws what the sink throws, and std::system_error like
// Sweep.
void FindIntervals(const ProcessInput& input, OperationPaths* paths, IntervalSink* sink);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_EVENTS_INTERVALS_H_
