// The beginning, the pauses and the end of CUDA capture in this process.
#ifndef RLSCOPE_CAPTURE_ATTACH_H_
#define RLSCOPE_CAPTURE_ATTACH_H_

namespace rlscope::capture {

// Finds CUPTI, subscribes, and starts to record. Inside cuInit(), before any CUDA context exists:
// later is too late for CUPTI to take our clock. Whatever fails is a sentence in the trace
// (metadata `cuda`) and leaves the program as it is.
void Attach();

// Records what CUPTI still holds. On the exit path, before CUDA is torn down.
void EndCapture();

}  // namespace rlscope::capture

#endif  // RLSCOPE_CAPTURE_ATTACH_H_
