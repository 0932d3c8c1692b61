// A stream of keys in ascending order, a block at a time: a thread, a GPU stream, or the merge of
// two streams.
#ifndef RLSCOPE_ANALYSIS_KEYS_KEY_STREAM_H_
#define RLSCOPE_ANALYSIS_KEYS_KEY_STREAM_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::analysis {

// 1,024 keys of 8 bytes: the blocks of a tree over 24 streams stay in the second-level cache.
constexpr size_t kBlockKeys = 2048;
// The most by which a block may be longer.
constexpr size_t kBlockSlack = 8;

class KeyStream {
 public:
  virtual ~KeyStream() = default;
  KeyStream() = default;
  KeyStream(const KeyStream&) = delete;
  KeyStream& operator=(const KeyStream&) = delete;

  // The next block into keys(), all of it unread. False: none left in this epoch. The number before
  // the first key can be read, and is smaller (0: no key is).
  virtual bool Refill() = 0;

  const uint64_t* keys() const { return keys_; }
  size_t size() const { return size_; }

  // How far the reader of this stream is, kept here for the merge.
  size_t position = 0;

 protected:
  const uint64_t* keys_ = nullptr;
  size_t size_ = 0;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_KEY_STREAM_H_
