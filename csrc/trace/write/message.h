// A protobuf message under construction in a ChunkBuffer. For chunks.cc and interval_chunks.cc.
#ifndef RLSCOPE_TRACE_WRITE_MESSAGE_H_
#define RLSCOPE_TRACE_WRITE_MESSAGE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "base/wire.h"
#include "trace/write/chunk_buffer.h"
#include "trace/write/frame_writer.h"

namespace rlscope::trace {

constexpr size_t kMaxTextBytes = 32 * 1024;  // of one text; longer ones are cut
constexpr size_t kMaxFieldBytes = 64;        // all numbers of one submessage, tags included

// Appends fields to the caller's buffer; knows how much is left.
class Message {
 public:
  explicit Message(ChunkBuffer* buffer)
      : begin_(buffer->bytes), end_(begin_), limit_(begin_ + sizeof buffer->bytes) {}

  size_t size() const { return static_cast<size_t>(end_ - begin_); }
  size_t left() const { return static_cast<size_t>(limit_ - end_); }
  uint8_t*& end() { return end_; }

  void Varint(uint32_t field, uint64_t value) { end_ = base::PutVarintField(end_, field, value); }
  void Signed(uint32_t field, int64_t value) { Varint(field, base::ZigZag(value)); }
  void Fixed64(uint32_t field, uint64_t value) { end_ = base::PutFixed64Field(end_, field, value); }
  // A `string` field: cut if too long, bytes that are not UTF-8 replaced.
  void String(uint32_t field, Text text) {
    const size_t size = Cut(text);
    end_ = base::PutBytesField(end_, field, text.data, size);
    base::ReplaceInvalidUtf8(end_ - size, size);
  }
  void String(uint32_t field, const char* text) {
    if (text != nullptr) String(field, Text{text, strlen(text)});
  }

  // A packed column of varints: its values first, then the tag and length in front of them.
  template <typename ValueAt>
  void Column(uint32_t field, size_t count, ValueAt value_at) {
    uint8_t* const values = end_ + kMaxFieldBytes;
    uint8_t* out = values;
    for (size_t i = 0; i < count; ++i) out = base::PutVarint(out, value_at(i));
    Packed(field, values, out);
  }
  // The same of values that stand already where a column puts them: kMaxFieldBytes further on.
  void Packed(uint32_t field, const uint8_t* values, const uint8_t* values_end) {
    const size_t size = static_cast<size_t>(values_end - values);
    uint8_t* const body = base::PutLength(end_, field, size);
    memmove(body, values, size);
    end_ = body + size;
  }

  int Append(Sink* sink, FrameType type) { return AppendFrame(sink, type, begin_, size()); }
  void Clear() { end_ = begin_; }

  // At most kMaxTextBytes, not ending inside a UTF-8 sequence.
  static size_t Cut(Text text) {
    if (text.size <= kMaxTextBytes) return text.size;
    size_t size = kMaxTextBytes;
    while (size > 0 && (static_cast<uint8_t>(text.data[size]) & 0xc0) == 0x80) --size;
    return size;
  }

 private:
  uint8_t* begin_;
  uint8_t* end_;
  uint8_t* limit_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_MESSAGE_H_
