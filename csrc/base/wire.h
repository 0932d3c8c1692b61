// Protobuf's wire format: varints, zigzag, tags, length-delimited fields. Writing goes to memory
// that is known to be large enough; reading checks every byte.
#ifndef RLSCOPE_BASE_WIRE_H_
#define RLSCOPE_BASE_WIRE_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace rlscope::base {

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr size_t kMaxVarintBytes = 10;

constexpr uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

// ---- writing: each returns the end of what it wrote -------------------------------------------

inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  while (value >= 128) {
    *out++ = static_cast<uint8_t>(value | 128);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

inline uint8_t* PutFixed64(uint8_t* out, uint64_t value) {
  memcpy(out, &value, sizeof value);  // little endian, as every machine this builds for
  return out + sizeof value;
}

inline uint8_t* PutTag(uint8_t* out, uint32_t field, WireType type) {
  return PutVarint(out, field << 3 | static_cast<uint32_t>(type));
}

// Whole fields; a zero is proto3's default and is not written.
inline uint8_t* PutVarintField(uint8_t* out, uint32_t field, uint64_t value) {
  return value == 0 ? out : PutVarint(PutTag(out, field, WireType::kVarint), value);
}
inline uint8_t* PutFixed64Field(uint8_t* out, uint32_t field, uint64_t value) {
  return value == 0 ? out : PutFixed64(PutTag(out, field, WireType::kFixed64), value);
}
inline uint8_t* PutLength(uint8_t* out, uint32_t field, size_t size) {
  return PutVarint(PutTag(out, field, WireType::kBytes), size);
}
inline uint8_t* PutBytesField(uint8_t* out, uint32_t field, const void* data, size_t size) {
  if (size == 0) return out;
  out = PutLength(out, field, size);
  memcpy(out, data, size);
  return out + size;
}

// ---- reading ------------------------------------------------------------------------------------

// Reads one varint at `in`, of at most ten bytes before `end`. Returns the byte after it, or null
// when it is cut off or longer.
inline const uint8_t* GetVarint(const uint8_t* in, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (in == end) return nullptr;
    const uint8_t byte = *in++;
    result |= shift < 64 ? static_cast<uint64_t>(byte & 127) << shift : 0;
    if (byte < 128) {
      *value = result;
      return in;
    }
  }
  return nullptr;
}

// Walks the fields of one message:
//   WireReader reader(data, size);
//   while (reader.Next()) switch (reader.field()) { case 1: x = reader.value(); ... }
//   if (!reader.ok()) ...   // the bytes are not a message
class WireReader {
 public:
  WireReader(const uint8_t* data, size_t size) : in_(data), end_(data + size) {}

  // Goes to the next field; false at the end or at a malformed byte.
  bool Next() {
    if (in_ == end_ || !ok_) return false;
    uint64_t tag;
    in_ = GetVarint(in_, end_, &tag);
    if (in_ == nullptr || tag >> 3 == 0 || tag > UINT32_MAX) return Fail();
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    return ReadValue();
  }

  bool ok() const { return ok_; }
  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool is_bytes() const { return type_ == WireType::kBytes; }
  // The number of a varint or fixed field; 0 for a length-delimited one.
  uint64_t value() const { return value_; }
  // The bytes of a length-delimited field; empty for others.
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  bool Fail() {
    ok_ = false;
    return false;
  }

  bool ReadValue() {
    value_ = 0;
    data_ = in_;
    size_ = 0;
    switch (type_) {
      case WireType::kVarint:
        in_ = GetVarint(in_, end_, &value_);
        return in_ != nullptr || Fail();
      case WireType::kFixed64:
        return ReadFixed(8);
      case WireType::kFixed32:
        return ReadFixed(4);
      case WireType::kBytes:
        return ReadBytes();
    }
    return Fail();  // groups are not proto3
  }

  bool ReadFixed(size_t size) {
    if (static_cast<size_t>(end_ - in_) < size) return Fail();
    memcpy(&value_, in_, size);
    in_ += size;
    return true;
  }

  bool ReadBytes() {
    uint64_t size;
    in_ = GetVarint(in_, end_, &size);
    if (in_ == nullptr || size > static_cast<size_t>(end_ - in_)) return Fail();
    data_ = in_;
    size_ = static_cast<size_t>(size);
    in_ += size_;
    return true;
  }

  const uint8_t* in_;
  const uint8_t* end_;
  bool ok_ = true;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t value_ = 0;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_WIRE_H_
