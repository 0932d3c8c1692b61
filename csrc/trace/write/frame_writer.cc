#include "trace/write/frame_writer.h"

#include <errno.h>

#include "base/crc32c.h"

namespace rlscope::trace {

int AppendFrame(Sink* sink, FrameType type, struct iovec* pieces, int count) {
  FrameHeader header = {kFrameMagic, 0, 0, static_cast<uint16_t>(type), kFormatVersion};
  header.crc = HeaderCrc(header);
  uint64_t length = 0;
  for (int i = 1; i < count; ++i) {
    length += pieces[i].iov_len;
    if (length > kMaxPayloadBytes) return EMSGSIZE;
    header.crc = base::Crc32c(header.crc, pieces[i].iov_base, pieces[i].iov_len);
  }
  header.length = static_cast<uint32_t>(length);
  pieces[0] = {&header, sizeof header};
  return sink->Append(pieces, count);
}

int AppendFrame(Sink* sink, FrameType type, const void* payload, size_t size) {
  struct iovec pieces[2] = {{nullptr, 0}, {const_cast<void*>(payload), size}};
  return AppendFrame(sink, type, pieces, 2);
}

}  // namespace rlscope::trace
