#include "trace/format/frame.h"

#include "base/crc32c.h"

namespace rlscope::trace {

uint32_t HeaderCrc(const FrameHeader& header) {
  return base::Crc32c(0, &header.type, sizeof header.type + sizeof header.version);
}

uint32_t FrameCrc(const FrameHeader& header, const void* payload) {
  return base::Crc32c(HeaderCrc(header), payload, header.length);
}

}  // namespace rlscope::trace
