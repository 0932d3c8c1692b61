// Which CUDA calls leave an activity record of CUPTI's, by their names: those records cost more
// than the callbacks of the call (docs/reference/semantics.md#bookkeeping-by-region).
#ifndef RLSCOPE_ANALYSIS_THREADS_CUDA_CALL_KINDS_H_
#define RLSCOPE_ANALYSIS_THREADS_CUDA_CALL_KINDS_H_

#include <stdint.h>

#include <string_view>
#include <vector>

#include "analysis/threads/record_kinds.h"
#include "trace/read/process_trace.h"

namespace rlscope::analysis {

// A function launches, copies, sets memory or synchronises. `name` as CUPTI has it:
// cudaLaunchKernel_v7000, cuMemcpyHtoDAsync_v2, cuStreamSynchronize_ptsz.
bool IsCudaSubmission(std::string_view name);

// The kinds of the records of a process's CUDA calls.
class CudaCallKinds {
 public:
  CudaCallKinds() = default;
  explicit CudaCallKinds(const std::vector<trace::Name>& names);

  RecordKind Of(uint32_t name) const {
    const bool submits = name < submits_.size() && submits_[name] != 0;
    return submits ? RecordKind::kCudaSubmission : RecordKind::kCudaCall;
  }

 private:
  std::vector<uint8_t> submits_;  // by name id
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_CUDA_CALL_KINDS_H_
