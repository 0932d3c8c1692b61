// Frames: a trace file is a row of them (trace.proto).
//
//   0       4        8        12      14        16
//   +-------+--------+--------+-------+---------+----------------------+
//   | magic | length | crc32c | type  | version | payload, length bytes|
//   +-------+--------+--------+-------+---------+----------------------+
//
// crc32c covers bytes 12..16 and the payload.
#ifndef RLSCOPE_TRACE_FORMAT_FRAME_H_
#define RLSCOPE_TRACE_FORMAT_FRAME_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::trace {

constexpr uint32_t kFrameMagic = 0x46534c52;  // "RLSF"
constexpr uint16_t kFormatVersion = 2;
// A longer payload is taken for damage; a full CpuChunk has at most 0.3 MiB.
constexpr uint32_t kMaxPayloadBytes = 4 << 20;
// Most intervals of a CudaCallChunk or a GpuChunk.
constexpr size_t kChunkIntervals = 4096;

enum class FrameType : uint16_t {
  kUnknown = 0,
  kProcess = 1,
  kNames = 2,
  kThreads = 3,
  kClock = 4,
  kCpu = 5,
  kCudaCall = 6,
  kGpu = 7,
  kMetadata = 8,
  kEnd = 9,
  kRolledUp = 10,
  kClosed = 11,
  kStates = 12,
  kStacks = 13,
};

struct FrameHeader {
  uint32_t magic;
  uint32_t length;
  uint32_t crc;
  uint16_t type;
  uint16_t version;
};
static_assert(sizeof(FrameHeader) == 16);

// Checksum of the bytes of the header that it covers, to go on from with those of the payload.
uint32_t HeaderCrc(const FrameHeader& header);

// Checksum of a frame with this header and contiguous payload.
uint32_t FrameCrc(const FrameHeader& header, const void* payload);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_FORMAT_FRAME_H_
