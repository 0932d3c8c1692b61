// Reads JSON value by value, as a stream: memory does not grow with the text. The caller says what
// it expects and skips the rest.
//
//   reader.BeginObject();
//   while (reader.NextKey()) {
//     if (reader.text() == "name" && reader.ReadString()) ... reader.text() ...
//     else reader.SkipValue();
//   }
//
// Lenient where that does no harm: a literal may be any word (NaN), commas inside a skipped value
// are not looked at. Throws FormatError for anything else, and where the text ends in the middle.
#ifndef RLSCOPE_IMPORTERS_JSON_READER_H_
#define RLSCOPE_IMPORTERS_JSON_READER_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

#include "importers/byte_source.h"

namespace rlscope::importers {

class JsonReader {
 public:
  // A longer string or number is read to its end and cut.
  static constexpr size_t kMostText = 16 << 10;
  // How deep objects and arrays may lie in each other.
  static constexpr size_t kMostDepth = 512;

  // Does not own the source.
  explicit JsonReader(ByteSource* source);

  // The first byte of the next value.
  char Peek();

  void BeginObject() { Begin('{'); }
  void BeginArray() { Begin('['); }
  // The key is text(); its value must be read next. False: the object has ended.
  bool NextKey();
  // A value must be read next. False: the array has ended.
  bool NextElement() { return Next(']'); }

  // Reads a string, or a number, as text(). Any other value is skipped: false.
  bool ReadString();
  bool ReadNumber();
  bool ReadStringOrNumber();
  void SkipValue();

  // Until the next call. UTF-8 as far as the source is; halves of surrogate pairs are U+FFFD.
  std::string_view text() const { return text_; }

  // There is nothing but white space up to the end.
  bool AtEnd();
  void ExpectEnd();

  uint64_t offset() const { return offset_ + static_cast<uint64_t>(at_ - buffer_.data()); }
  [[noreturn]] void Fail(const char* what) const;

 private:
  void Begin(char bracket);
  bool Next(char end);
  bool Fill();  // false: no more
  char Get();
  void SkipSpace();
  void TakeString();  // after the opening quote
  void PassString();
  void TakeEscape();
  uint32_t TakeHex();
  void TakeLongString();
  void Put(const char* bytes, size_t size);
  void PutCodePoint(uint32_t code);
  void TakeWord();
  void PassContainer();

  ByteSource* const source_;
  std::vector<char> buffer_;
  const char* at_;
  const char* end_;
  uint64_t offset_ = 0;    // of the buffer's first byte
  std::string_view text_;  // of the buffer, where it lies there as it is; else of `kept_`
  std::string kept_;
  std::string brackets_;  // that are open
  bool first_ = false;    // nothing was read of the innermost one
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_JSON_READER_H_
