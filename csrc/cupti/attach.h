// The beginning, the pauses and the end of CUPTI in this process.
#ifndef RLSCOPE_CUPTI_ATTACH_H_
#define RLSCOPE_CUPTI_ATTACH_H_

namespace rlscope::cupti {

// Finds CUPTI, subscribes, and starts to record. Inside cuInit(), before any CUDA context exists:
// later is too late for CUPTI to take our clock. Whatever fails is a sentence in the trace
// (metadata `cuda`) and leaves the program as it is.
void Attach();

// Records what CUPTI still holds. On the exit path, before CUDA is torn down.
void EndCupti();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_ATTACH_H_
