// The part of the C ABI that speaks of CUDA: pauses, and calls that somebody else watches.
#include "cupti/activities.h"
#include "cupti/flusher.h"
#include "cupti/subscription.h"
#include "runtime/cuda_call.h"
#include "runtime/rlscope.h"

void rlscope_pause_cuda(void) { rlscope::cupti::PauseFlusher(); }
void rlscope_resume_cuda(void) { rlscope::cupti::ResumeFlusher(); }
int rlscope_has_cuda(void) { return rlscope::cupti::HasCupti(); }
enum rlscope_gpu_state rlscope_turn_gpu(int recorded) {
  return rlscope::cupti::TurnCupti(recorded != 0);
}
void rlscope_keep_cupti(int kept) { rlscope::cupti::KeepCupti(kept != 0); }
uint64_t rlscope_gpu_launches(void) { return rlscope::cupti::LaunchesRead(); }
int rlscope_has_traced_graphs(void) { return rlscope::cupti::HasTracedGraphs(); }
int rlscope_switch_cuda(uint32_t parts) { return rlscope::cupti::SwitchCupti(parts); }

int rlscope_begin_cuda_call(void) { return rlscope::runtime::BeginCudaCall(); }
void rlscope_end_cuda_call(uint32_t name, uint32_t status) {
  rlscope::runtime::EndCudaCall([name] { return name; }, /*correlation=*/0, /*context=*/0, status);
}
