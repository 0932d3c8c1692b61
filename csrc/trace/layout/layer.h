// The layers of the software stack: which one a name belongs to.
#ifndef RLSCOPE_TRACE_LAYOUT_LAYER_H_
#define RLSCOPE_TRACE_LAYOUT_LAYER_H_

#include <stdint.h>

namespace rlscope::trace {

// Layer of trace.proto.
enum class Layer : uint32_t {
  kNone = 0,
  kPython = 1,
  kSimulator = 2,
  kFramework = 3,
  kCudaApi = 4,
  kGpu = 5,
  kWait = 6,  // the thread waits: for another process, a lock, the GIL, or until a time
};
constexpr Layer kLastLayer = Layer::kWait;
// By number; every reader takes them from here.
constexpr const char* kLayerNames[] = {"none",     "python", "simulator", "framework",
                                       "cuda_api", "gpu",    "wait"};
static_assert(sizeof kLayerNames / sizeof *kLayerNames == static_cast<uint32_t>(kLastLayer) + 1);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_LAYER_H_
