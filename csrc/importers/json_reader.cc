#include "importers/json_reader.h"

#include <string.h>

#include <algorithm>
#include <string>

namespace rlscope::importers {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr uint32_t kReplacement = 0xfffd;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Sets of bytes, by byte: a load is less than comparisons.
struct Set {
  bool has[256] = {};
  constexpr explicit Set(std::string_view bytes) {
    for (const char c : bytes) has[static_cast<uint8_t>(c)] = true;
  }
  bool operator()(char c) const { return has[static_cast<uint8_t>(c)]; }
};
// The characters of a number or a literal.
constexpr Set IsOfWord("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-.");
constexpr Set IsStructure("\"{}[]");

bool IsHighSurrogate(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool IsLowSurrogate(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

}  // namespace

JsonReader::JsonReader(ByteSource* source) : source_(source), buffer_(kBufferBytes) {
  at_ = end_ = buffer_.data();
}

void JsonReader::Fail(const char* what) const {
  throw FormatError("invalid JSON at byte " + std::to_string(offset()) + ": " + what);
}

bool JsonReader::Fill() {
  offset_ = offset();
  const size_t size = source_->Read(buffer_.data(), buffer_.size());
  at_ = buffer_.data();
  end_ = at_ + size;
  return size > 0;
}

char JsonReader::Get() {
  if (at_ == end_ && !Fill()) Fail("the file ends too early");
  return *at_++;
}

void JsonReader::SkipSpace() {
  do {
    while (at_ != end_ && IsSpace(*at_)) ++at_;
  } while (at_ == end_ && Fill());
}

char JsonReader::Peek() {
  SkipSpace();
  if (at_ == end_) Fail("the file ends too early");
  return *at_;
}

bool JsonReader::AtEnd() {
  SkipSpace();
  return at_ == end_;
}

void JsonReader::ExpectEnd() {
  if (!AtEnd()) Fail("more text follows the end");
}

void JsonReader::Begin(char bracket) {
  if (Peek() != bracket) Fail(bracket == '{' ? "this is not an object" : "this is not an array");
  if (brackets_.size() == kMostDepth) Fail("nested too deeply");
  ++at_;
  brackets_.push_back(bracket);
  first_ = true;
}

bool JsonReader::Next(char end) {
  char c = Peek();
  if (c == end) {
    ++at_;
    brackets_.pop_back();
    first_ = false;
    return false;
  }
  if (!first_) {
    if (c != ',') Fail("a comma between two values is missing");
    ++at_;
  }
  first_ = false;
  return true;
}

bool JsonReader::NextKey() {
  if (!Next('}')) return false;
  if (Peek() != '"') Fail("a key is missing");
  ++at_;
  TakeString();
  if (at_ == end_ || *at_ != ':') {  // the buffer may change before the colon
    kept_.assign(text_);
    text_ = kept_;
    if (Peek() != ':') Fail("a colon after a key is missing");
  }
  ++at_;
  return true;
}

bool JsonReader::ReadString() {
  if (Peek() != '"') {
    SkipValue();
    return false;
  }
  ++at_;
  TakeString();
  return true;
}

bool JsonReader::ReadNumber() {
  const char c = Peek();
  if (c != '-' && !(c >= '0' && c <= '9')) {
    SkipValue();
    return false;
  }
  TakeWord();
  return true;
}

bool JsonReader::ReadStringOrNumber() { return Peek() == '"' ? ReadString() : ReadNumber(); }

void JsonReader::SkipValue() {
  const char c = Peek();
  if (c == '"') {
    ++at_;
    PassString();
  } else if (c == '{' || c == '[') {
    PassContainer();
  } else {
    TakeWord();
    if (text_.empty()) Fail("a value is missing");
  }
}

// ---- strings ------------------------------------------------------------------------------------

void JsonReader::Put(const char* bytes, size_t size) {
  kept_.append(bytes, std::min(size, kMostText - kept_.size()));
}

void JsonReader::TakeString() {
  const char* const from = at_;
  while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
  if (at_ != end_ && *at_ == '"') {
    text_ = {from, std::min(static_cast<size_t>(at_ - from), kMostText)};
    ++at_;
    return;
  }
  at_ = from;
  TakeLongString();
  text_ = kept_;
}

// One with escapes, or that lies across the end of the buffer.
void JsonReader::TakeLongString() {
  kept_.clear();
  for (;;) {
    const char* const from = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    Put(from, static_cast<size_t>(at_ - from));
    const char c = Get();
    if (c == '"') return;
    if (c == '\\') {
      TakeEscape();
    } else {
      Put(&c, 1);  // the first byte of a new buffer
    }
  }
}

void JsonReader::PassString() {
  for (;;) {
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    const char c = Get();
    if (c == '"') return;
    if (c == '\\') Get();
  }
}

void JsonReader::TakeEscape() {
  const char c = Get();
  if (c != 'u') {
    constexpr char kEscapes[] = "b\bf\fn\nr\rt\t";
    const char* const found = strchr("bfnrt", c);
    const bool is_control = c != '\0' && found != nullptr;
    const char meant = is_control ? *(strchr(kEscapes, c) + 1) : c;
    Put(&meant, 1);
    return;
  }
  uint32_t code = TakeHex();
  // The other half of a pair follows, or this is none.
  while (IsHighSurrogate(code)) {
    if ((at_ == end_ && !Fill()) || *at_ != '\\') break;
    ++at_;
    if ((at_ == end_ && !Fill()) || *at_ != 'u') {
      PutCodePoint(kReplacement);
      return TakeEscape();
    }
    ++at_;
    const uint32_t next = TakeHex();
    if (IsLowSurrogate(next))
      return PutCodePoint(0x10000 + ((code - 0xd800) << 10) + next - 0xdc00);
    PutCodePoint(kReplacement);
    code = next;
  }
  PutCodePoint(IsHighSurrogate(code) || IsLowSurrogate(code) ? kReplacement : code);
}

uint32_t JsonReader::TakeHex() {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = Get();
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (!is_digit && !is_letter) Fail("four hexadecimal digits must follow \\u");
    code = code << 4 | static_cast<uint32_t>(is_digit ? c - '0' : (c | 32) - 'a' + 10);
  }
  return code;
}

void JsonReader::PutCodePoint(uint32_t code) {
  char bytes[4];
  size_t size = 0;
  const auto put = [&](uint32_t byte) { bytes[size++] = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 63));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 63));
    put(0x80 | (code >> 6 & 63));
  }
  if (code >= 0x80) put(0x80 | (code & 63));
  if (kMostText - kept_.size() >= size) Put(bytes, size);
}

// ---- the rest -----------------------------------------------------------------------------------

void JsonReader::TakeWord() {
  const char* const from = at_;
  while (at_ != end_ && IsOfWord(*at_)) ++at_;
  if (at_ != end_) {
    text_ = {from, std::min(static_cast<size_t>(at_ - from), kMostText)};
    return;
  }
  kept_.clear();
  Put(from, static_cast<size_t>(at_ - from));
  while (at_ == end_ && Fill()) {
    const char* const begin = at_;
    while (at_ != end_ && IsOfWord(*at_)) ++at_;
    Put(begin, static_cast<size_t>(at_ - begin));
  }
  text_ = kept_;
}

void JsonReader::PassContainer() {
  const size_t outside = brackets_.size();
  do {
    while (at_ != end_ && !IsStructure(*at_)) ++at_;
    const char c = Get();
    if (c == '"') {
      PassString();
    } else if (c == '{' || c == '[') {
      if (brackets_.size() == kMostDepth) Fail("nested too deeply");
      brackets_.push_back(c);
    } else if (c == '}' || c == ']') {
      if (brackets_.back() != (c == '}' ? '{' : '['))
        Fail("this bracket closes one of the other kind");
      brackets_.pop_back();
    }
  } while (brackets_.size() > outside);
}

}  // namespace rlscope::importers
