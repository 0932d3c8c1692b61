// Walks the frames of a trace file in memory: gives every frame whose checksum holds, and reports
// the bytes between them.
//
//   [frame][frame][?????][frame]      after damage the next magic whose checksum holds is searched
//                 ^ Damage
#ifndef RLSCOPE_TRACE_READ_FRAME_READER_H_
#define RLSCOPE_TRACE_READ_FRAME_READER_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "trace/format/frame.h"
#include "trace/read/decoder.h"

namespace rlscope::trace {

struct FrameView {
  FrameType type;
  uint16_t version;
  uint64_t offset;  // of the frame's first byte
  Span payload;     // inside the memory that is read
};

struct Damage {
  uint64_t offset;
  uint64_t bytes;
  bool at_end;  // nothing intact follows: most likely cut off
};

class FrameReader {
 public:
  FrameReader(const uint8_t* data, uint64_t size);

  // The next intact frame, of any version and type. False at the end.
  bool Next(FrameView* frame);

  // The bytes that were passed over so far.
  const std::vector<Damage>& damages() const { return damages_; }

 private:
  bool ReadAt(uint64_t offset, FrameView* frame) const;
  bool Search(FrameView* frame);

  const uint8_t* data_;
  uint64_t size_;
  uint64_t offset_ = 0;
  // A file made of magics with long lengths would make the search quadratic; an honest one needs
  // far less than this.
  mutable uint64_t checksum_budget_;
  // Nor is damage searched for ever: a file may be made of 40 GB that are not there.
  uint64_t search_budget_ = 256 << 20;
  std::vector<Damage> damages_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_FRAME_READER_H_
