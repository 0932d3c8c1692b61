// State as a row of varints, written and read by one function for both: what a class writes it
// reads back in the same order.
//
//   void Stack::Carry(trace::Archive* archive) {
//     frames_.resize(archive->Count(frames_.size()));
//     for (Frame& frame : frames_) {
//       archive->Below(&frame.path, paths);   // read: fails beyond
//       archive->Number(&frame.start_ns);
//     }
//   }
//
// Reading is safe on any bytes: what does not fit makes the archive fail, after which all numbers
// are 0 and all counts too. One who reads looks at ok() at the end, and before a number that was
// read is an index.
#ifndef RLSCOPE_TRACE_FORMAT_ARCHIVE_H_
#define RLSCOPE_TRACE_FORMAT_ARCHIVE_H_

#include <stddef.h>
#include <stdint.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/wire.h"

namespace rlscope::trace {

class Archive {
 public:
  // Bytes in memory that outlives the archive.
  struct Piece {
    const uint8_t* data;
    size_t size;
  };
  // Takes whole values: pieces that are given to it can be read as they are.
  using Write = std::function<void(const uint8_t* data, size_t size)>;

  explicit Archive(Write write) : write_(std::move(write)) { buffer_.reserve(kPieceBytes); }
  explicit Archive(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  bool reads() const { return !write_; }
  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  // When everything was written: gives what is left.
  void Flush() {
    if (!buffer_.empty()) write_(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  // An integer, a bool or an enum.
  template <class T>
  void Number(T* value) {
    if (!reads()) return Put(Encode(static_cast<int64_t>(*value)));
    const int64_t number = Decode(Get());
    *value = static_cast<T>(number);
    if (static_cast<int64_t>(*value) != number) Fail();
    if (!ok_) *value = T();
  }

  // The same, below `limit`.
  template <class T>
  void Below(T* value, uint64_t limit) {
    Number(value);
    if (static_cast<uint64_t>(*value) < limit) return;
    Fail();
    *value = T();
  }

  // A time, or one of the ends of all times.
  void Time(int64_t* ns) {
    Number(ns);
    if (*ns != INT64_MIN && *ns != INT64_MAX && (*ns > kMostNs || *ns < -kMostNs)) Fail();
    if (!ok_) *ns = 0;
  }

  // Time added up: such that more can be added.
  void Sum(int64_t* ns) {
    Number(ns);
    if (*ns > kMostNs / 2 || *ns < -kMostNs / 2) Fail();
    if (!ok_) *ns = 0;
  }

  void Text(std::string* text) {
    const size_t size = Count(text->size());
    if (!reads()) {
      for (const char c : *text) Put(static_cast<uint8_t>(c));
      return;
    }
    text->clear();
    for (size_t i = 0; i < size; ++i) text->push_back(static_cast<char>(Get()));
  }

  // How many values follow. Read: no more than there are bytes, so that nobody makes room for more.
  size_t Count(size_t count) {
    uint64_t number = count;
    Below(&number, reads() ? BytesLeft() + 1 : UINT64_MAX);
    return static_cast<size_t>(number);
  }

 private:
  static constexpr size_t kPieceBytes = 1 << 20;
  static constexpr int64_t kMostNs = int64_t{1} << 62;

  static uint64_t Encode(int64_t number) { return base::ZigZag(number); }
  static int64_t Decode(uint64_t bits) { return base::UnZigZag(bits); }

  void Put(uint64_t bits) {
    uint8_t bytes[base::kMaxVarintBytes];
    buffer_.insert(buffer_.end(), bytes, base::PutVarint(bytes, bits));
    if (buffer_.size() >= kPieceBytes - base::kMaxVarintBytes) Flush();
  }

  uint64_t Get() {
    while (ok_ && piece_ < pieces_.size() && at_ == pieces_[piece_].size) {
      ++piece_;
      at_ = 0;
    }
    if (!ok_ || piece_ == pieces_.size()) {
      Fail();
      return 0;
    }
    const uint8_t* const begin = pieces_[piece_].data;
    uint64_t bits = 0;
    const uint8_t* const end = base::GetVarint(begin + at_, begin + pieces_[piece_].size, &bits);
    if (end == nullptr) {
      Fail();
      return 0;
    }
    at_ = static_cast<size_t>(end - begin);
    return bits;
  }

  uint64_t BytesLeft() const {
    uint64_t bytes = 0;
    for (size_t i = piece_; i < pieces_.size(); ++i) bytes += pieces_[i].size;
    return bytes - at_;
  }

  const Write write_;  // empty: reads
  std::vector<uint8_t> buffer_;
  std::vector<Piece> pieces_;
  size_t piece_ = 0;  // that is read,
  size_t at_ = 0;     // from here on
  bool ok_ = true;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_FORMAT_ARCHIVE_H_
