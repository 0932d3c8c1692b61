// The kinds of names in a trace file.
#ifndef RLSCOPE_TRACE_FORMAT_NAME_KIND_H_
#define RLSCOPE_TRACE_FORMAT_NAME_KIND_H_

#include <stdint.h>

namespace rlscope::trace {

// NameChunk.NameKind of trace.proto.
enum class NameKind : uint32_t {
  kUnknown = 0,
  kOperation = 1,
  kPhase = 2,
  kFunction = 3,
  kCudaCall = 4,
  kKernel = 5,
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_FORMAT_NAME_KIND_H_
