// Appends frames (frame.h) to a sink.
#ifndef RLSCOPE_TRACE_WRITE_FRAME_WRITER_H_
#define RLSCOPE_TRACE_WRITE_FRAME_WRITER_H_

#include <stddef.h>
#include <sys/uio.h>

#include "trace/format/frame.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

// Appends one frame whose payload is the pieces in order. pieces[0] is left free by the caller
// for the header. 0 or an errno value; EMSGSIZE when the payload is longer than kMaxPayloadBytes.
int AppendFrame(Sink* sink, FrameType type, struct iovec* pieces, int count);

// The same for one contiguous payload.
int AppendFrame(Sink* sink, FrameType type, const void* payload, size_t size);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_FRAME_WRITER_H_
