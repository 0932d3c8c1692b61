// CUDA calls and GPU work by operation: the relations api_call, sync, gpu_time, and one for each
// kind of GPU work (docs/reference/semantics.md#whose-call-whose-kernel,
// docs/reference/semantics.md#gpu).
//
//   threads -> keys and CUDA notes -> CudaFollower -- calls ---> LaunchTable --+
//                                        |                                   | correlation id
//                                     owner x BusyTime -> while_ns           |
//   GPU streams ---- intervals -> GpuMerge ----------------------------------+-> rows, launched_ns
//                                                                            +-> SyncWaits
//                                                                            +-> SiteRows
//                                                                            +-> IterationWork
//
// A pass of its own over the threads, apart from the sweep: traces without CUDA pay nothing for it.
// Memory does not depend on the length of the trace, as in the sweep.
#ifndef RLSCOPE_ANALYSIS_CUDA_CUDA_RELATIONS_H_
#define RLSCOPE_ANALYSIS_CUDA_CUDA_RELATIONS_H_

#include <memory>

#include "analysis/cuda/cuda_result.h"
#include "analysis/process/source.h"

namespace rlscope::analysis {

// `input` must outlive the result. `loop`: what the sweep found, for the stages of call sites.
// Throws std::system_error like Sweep.
std::unique_ptr<CudaResult> FindCuda(const ProcessInput& input, const LoopSpan& loop = {});

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_CUDA_RELATIONS_H_
