#include "trace/drain/line_table.h"

namespace rlscope::trace {
namespace {

// An entry is a byte with its kind and how many instructions it covers, then columns and lines.
enum Kind : uint32_t {
  kOneLine = 10,  // to 12: lines after the entry before, then two columns
  kNoColumns = 13,
  kLong = 14,
  kNoLine = 15,
};

class Reader {
 public:
  Reader(const char* data, size_t bytes) : data_(data), left_(bytes) {}

  bool empty() const { return left_ == 0; }
  bool damaged() const { return damaged_; }
  uint32_t Byte() {
    if (left_ == 0) {
      damaged_ = true;
      return 0;
    }
    left_--;
    return static_cast<uint8_t>(*data_++);
  }
  // Six bits a byte, the lowest first.
  uint32_t Number() {
    uint32_t byte = Byte(), number = byte & 63;
    for (uint32_t shift = 6; (byte & 64) != 0 && shift < 32; shift += 6) {
      byte = Byte();
      number |= (byte & 63) << shift;
    }
    return number;
  }
  int64_t SignedNumber() {
    const uint32_t number = Number();
    const int64_t half = number >> 1;
    return (number & 1) != 0 ? -half : half;
  }

 private:
  const char* data_;
  size_t left_;
  bool damaged_ = false;
};

uint32_t LineNumber(int64_t line) {
  return line <= 0 || line > INT32_MAX ? 0 : static_cast<uint32_t>(line);
}

// Reads the rest of an entry; returns by how many lines it is after the one before.
int64_t ReadLines(uint32_t kind, Reader* reader) {
  int64_t lines = 0;
  uint32_t columns = 1;
  if (kind == kLong || kind == kNoColumns) {
    lines = reader->SignedNumber();
    columns = kind == kLong ? 3 : 0;  // the last line, and two columns
    for (; columns > 0; columns--) reader->Number();
  } else if (kind >= kOneLine && kind < kNoColumns) {
    lines = kind - kOneLine;
    columns = 2;
  } else if (kind == kNoLine) {
    columns = 0;
  }
  for (; columns > 0; columns--) reader->Byte();
  return lines;
}

}  // namespace

uint32_t FindLine(const char* table, size_t bytes, uint32_t first_line, uint32_t instruction) {
  Reader reader(table, bytes);
  int64_t line = first_line;
  uint32_t end = 0;
  while (!reader.empty()) {
    const uint32_t byte = reader.Byte();
    const uint32_t kind = byte >> 3 & 15;
    line += ReadLines(kind, &reader);
    end += (byte & 7) + 1;
    if (reader.damaged()) return 0;
    if (instruction >= end) continue;
    return kind == kNoLine ? 0 : LineNumber(line);
  }
  return 0;
}

uint32_t FindLineInPairs(const char* table, size_t bytes, uint32_t first_line,
                         uint32_t instruction) {
  constexpr int8_t kNone = -128;
  Reader reader(table, bytes);
  int64_t line = first_line;
  uint64_t end = 0;  // in bytes of code, two an instruction
  while (!reader.empty()) {
    end += reader.Byte();
    const auto lines = static_cast<int8_t>(reader.Byte());
    if (reader.damaged()) return 0;
    if (lines != kNone) line += lines;
    if (uint64_t{instruction} * 2 < end) return lines == kNone ? 0 : LineNumber(line);
  }
  return 0;
}

}  // namespace rlscope::trace
