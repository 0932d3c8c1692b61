// A column of a chunk as it lies in the file.
#ifndef RLSCOPE_TRACE_READ_SPAN_H_
#define RLSCOPE_TRACE_READ_SPAN_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::trace {

// Bytes of one column inside a payload.
struct Span {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_SPAN_H_
