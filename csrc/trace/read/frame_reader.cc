#include "trace/read/frame_reader.h"

#include <string.h>

namespace rlscope::trace {

FrameReader::FrameReader(const uint8_t* data, uint64_t size)
    : data_(data), size_(size), checksum_budget_(16 * size + (64 << 20)) {}

// Whether an intact frame begins at `offset`.
bool FrameReader::ReadAt(uint64_t offset, FrameView* frame) const {
  if (size_ - offset < sizeof(FrameHeader)) return false;
  FrameHeader header;
  memcpy(&header, data_ + offset, sizeof header);
  const uint64_t left = size_ - offset - sizeof header;
  if (header.magic != kFrameMagic || header.length > kMaxPayloadBytes || header.length > left) {
    return false;
  }
  if (header.length > checksum_budget_) return false;
  checksum_budget_ -= header.length;
  const uint8_t* payload = data_ + offset + sizeof header;
  if (FrameCrc(header, payload) != header.crc) return false;
  *frame = {static_cast<FrameType>(header.type), header.version, offset, {payload, header.length}};
  return true;
}

// From the damage at offset_ to the next intact frame.
bool FrameReader::Search(FrameView* frame) {
  constexpr uint8_t kFirstByte = kFrameMagic & 255;
  const uint64_t end = size_ - offset_ < search_budget_ ? size_ : offset_ + search_budget_;
  for (uint64_t at = offset_ + 1; at < end; ++at) {
    const void* found = memchr(data_ + at, kFirstByte, end - at);
    if (found == nullptr) break;
    at = static_cast<uint64_t>(static_cast<const uint8_t*>(found) - data_);
    if (!ReadAt(at, frame)) continue;
    search_budget_ -= at - offset_;
    damages_.push_back({offset_, at - offset_, false});
    return true;
  }
  damages_.push_back({offset_, size_ - offset_, true});
  offset_ = size_;
  return false;
}

bool FrameReader::Next(FrameView* frame) {
  if (offset_ >= size_) return false;
  if (!ReadAt(offset_, frame) && !Search(frame)) return false;
  offset_ = frame->offset + sizeof(FrameHeader) + frame->payload.size;
  return true;
}

}  // namespace rlscope::trace
