// A leaf of the merge: the keys of one stream, made as they are asked for.
#ifndef RLSCOPE_ANALYSIS_KEYS_STATE_STREAM_H_
#define RLSCOPE_ANALYSIS_KEYS_STATE_STREAM_H_

#include <stdint.h>

#include <memory>

#include "analysis/keys/key.h"
#include "analysis/keys/key_stream.h"
#include "analysis/keys/operation_paths.h"

namespace rlscope::analysis {

// Turns the states of one stream into keys of a block. A loop that emits works on a copy in
// registers. Otherwise the compiler would have to assume that the loop's own stores change it.
struct KeyWriter {
  uint64_t stream_code;
  uint32_t time_shift;
  uint32_t state;
  int64_t epoch_start_ns = 0;
  int64_t last_time = INT64_MIN;  // of the last key of the epoch
  uint64_t* end = nullptr;        // of the keys

  uint64_t Key(int64_t now, uint32_t code) const {
    return static_cast<uint64_t>(now - epoch_start_ns) << time_shift | stream_code | code;
  }

  // The stream is in `next` from `now` on; times never decrease.
  void Emit(int64_t now, uint32_t next, bool note) {
    if (next == state && !note) return;
    note |= IsOperation(PathOf(next)) != IsOperation(PathOf(state));
    EmitChange(now, next | note);
  }

  // The same for another state of the same path, without a note.
  void EmitLayer(int64_t now, uint32_t next) {
    if (next != state) EmitChange(now, next);
  }

 private:
  void EmitChange(int64_t now, uint32_t code) {
    state = code & ~kNoteBit;
    const uint64_t key = Key(now, code);
    if (now == last_time) {
      end[-1] = key | (end[-1] & kNoteBit);
      return;
    }
    last_time = now;
    *end++ = key;
  }
};

class StateStream : public KeyStream {
 public:
  // The epoch [start_ns, end_ns) begins; everything of the one before was read.
  void BeginEpoch(int64_t start_ns, int64_t end_ns) {
    writer_.epoch_start_ns = start_ns;
    writer_.last_time = INT64_MIN;
    epoch_end_ns_ = end_ns;
  }
  // A time before which the stream has no further change; kNever if it has none at all. Only
  // between epochs.
  virtual int64_t NextChange() const = 0;
  // Frees the buffers; the next Refill gets them again. Only between epochs.
  void ReleaseBuffer() {
    buffer_.reset();
    writer_.end = nullptr;
    keys_ = nullptr;
    size_ = 0;
  }

  bool Refill() final {
    BeginBlock();
    Fill();
    return EndBlock();
  }

 protected:
  StateStream(uint32_t stream, const KeyLayout& layout, uint32_t first_state)
      : writer_{uint64_t{stream} << kStateBits, layout.time_shift(), first_state} {}

  // Calls Emit while there are changes before epoch_end() and !Full(). Sets `exhausted_` when
  // there are no more in this epoch.
  virtual void Fill() = 0;

  int64_t epoch_end() const { return epoch_end_ns_; }
  // Room is kept for what one step can emit.
  bool Full() const { return writer_.end >= limit_; }

  void Emit(int64_t now, uint32_t state, bool note) { writer_.Emit(now, state, note); }

  KeyWriter writer_;
  const uint64_t* limit_ = nullptr;  // one step may go on past it, by kBlockSlack keys
  bool exhausted_ = false;

 private:
  // The last key of a block is held back, because a later change at its time would replace it.
  void BeginBlock() {
    if (buffer_ == nullptr) {
      buffer_ = std::make_unique<uint64_t[]>(1 + kBlockKeys + kBlockSlack);
      writer_.end = first_key();
      limit_ = writer_.end + kBlockKeys;
      return;
    }
    const bool held = writer_.end > first_key() && held_;
    if (held) *first_key() = writer_.end[-1];
    writer_.end = first_key() + held;
  }

  bool EndBlock() {
    held_ = !exhausted_ && writer_.end > first_key();
    keys_ = first_key();
    size_ = static_cast<size_t>(writer_.end - first_key()) - held_;
    position = 0;
    exhausted_ = false;
    return size_ > 0;
  }

  uint64_t* first_key() const { return buffer_.get() + 1; }

  bool held_ = false;
  int64_t epoch_end_ns_ = 0;
  std::unique_ptr<uint64_t[]> buffer_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_STATE_STREAM_H_
