#include "analysis/keys/merge_tree.h"

#include <string.h>

#include <algorithm>
#include <queue>

namespace rlscope::analysis {
namespace {

// Keys of one input that are at hand, ascending.
struct Run {
  const uint64_t* keys;
  size_t size;
  uint64_t last() const { return keys[size - 1]; }
};

// All ones if it is so, else 0. Masks and not ?:, of which compilers make branches, whose outcome
// is a coin toss here.
inline size_t MaskOf(bool is_so) { return size_t{0} - static_cast<size_t>(is_so); }

// How many of the first `count` keys of the merge come from `left` (merge path: a binary search
// along the anti-diagonal).
size_t SplitPoint(const Run& left, const Run& right, size_t count) {
  size_t low = count > right.size ? count - right.size : 0;
  size_t size = std::min(count, left.size) - low;
  while (size > 0) {
    const size_t half = size / 2;
    const size_t taken = MaskOf(left.keys[low + half] <= right.keys[count - 1 - low - half]);
    low += (half + 1) & taken;
    size = half - ((size % 2 - 1) & taken & 1);
  }
  return low;
}

// How many keys of the run are below `key`.
size_t CountBelow(const Run& run, uint64_t key) {
  size_t low = 0;
  for (size_t size = run.size; size > 0;) {
    const size_t half = size / 2;
    const size_t taken = MaskOf(run.keys[low + half] < key);
    low += (half + 1) & taken;
    size = half - ((size % 2 - 1) & taken & 1);
  }
  return low;
}

// How many keys the merge has before it needs a key that is not at hand: all keys of the input with
// the smaller last key, and the keys of the other input before that one. If two keys are equal (of
// two GPU streams), the left one is first.
size_t CountMerged(const Run& left, const Run& right) {
  const bool left_ends = left.last() <= right.last();
  const Run& ends = left_ends ? left : right;
  const Run& goes_on = left_ends ? right : left;
  return ends.size + CountBelow(goes_on, ends.last() + !left_ends);
}

// One step of a merge from the front: the smaller of two keys to out[at]. `taken` are those of
// `left` so far.
inline void Step(const uint64_t* left, const uint64_t* right, size_t* taken, size_t at,
                 uint64_t* out) {
  const uint64_t a = left[*taken];
  const uint64_t b = right[at - *taken];
  const bool from_right = b < a;
  out[at] = from_right ? b : a;
  *taken += !from_right;
}

// The same from the back: the larger one of the last keys that are left, `left_size` of `left`.
// When an input has none left, the key before its first is looked at, which is smaller.
inline void StepBack(const uint64_t* left, const uint64_t* right, size_t* left_size, size_t at,
                     uint64_t* out) {
  const uint64_t a = (left - 1)[*left_size];
  const uint64_t b = (right - 1)[at + 1 - *left_size];
  const bool from_left = b < a;
  out[at] = from_left ? a : b;
  *left_size -= from_left;
}

// Four merges at once, from both ends of both halves of the output: one merge alone waits for its
// own loads (13 % of the whole sweep). Returns how many of the `count` keys came from `left`.
size_t MergeKeys(const Run& left_run, const Run& right_run, size_t count, uint64_t* out) {
  const uint64_t* const left = left_run.keys;
  const uint64_t* const right = right_run.keys;
  size_t taken = 0;
  size_t at = 0;
  const size_t end = SplitPoint(left_run, right_run, count);
  if (count >= 64) {
    const size_t quarter = count / 4;
    const size_t middle = count - 2 * quarter;
    size_t taken_b = SplitPoint(left_run, right_run, middle);
    size_t size_a = taken_b;
    size_t size_b = end;
    for (; at < quarter; ++at) {
      Step(left, right, &taken, at, out);
      StepBack(left, right, &size_a, middle - 1 - at, out);
      Step(left, right, &taken_b, middle + at, out);
      StepBack(left, right, &size_b, count - 1 - at, out);
    }
    count = middle - quarter;
  }
  for (; at < count; ++at) Step(left, right, &taken, at, out);
  return end;
}

class MergeNode : public KeyStream {
 public:
  MergeNode(KeyStream* left, KeyStream* right) : left_{left, true}, right_{right, true} {
    keys_ = buffer_ + 1;
  }

  bool Refill() override {
    position = 0;
    size_ = 0;
    while (size_ < kBlockKeys && Load(&left_) + Load(&right_) > 0) {
      size_ += left_.more && right_.more ? MergeBoth() : Copy(left_.more ? &left_ : &right_);
    }
    return size_ > 0;
  }

 private:
  struct Input {
    KeyStream* stream;
    bool more;
  };

  // Keys of the input that are at hand; makes some if there are none.
  static size_t Load(Input* input) {
    KeyStream* stream = input->stream;
    if (input->more && stream->position == stream->size()) input->more = stream->Refill();
    return input->more ? stream->size() - stream->position : 0;
  }

  size_t MergeBoth() {
    const Run left = AtHand(left_.stream);
    const Run right = AtHand(right_.stream);
    const size_t count = std::min(CountMerged(left, right), kBlockKeys - size_);
    const size_t taken = MergeKeys(left, right, count, buffer_ + 1 + size_);
    left_.stream->position += taken;
    right_.stream->position += count - taken;
    return count;
  }

  static Run AtHand(const KeyStream* stream) {
    return {stream->keys() + stream->position, stream->size() - stream->position};
  }

  size_t Copy(Input* input) {
    KeyStream* stream = input->stream;
    const size_t count = std::min(stream->size() - stream->position, kBlockKeys - size_);
    memcpy(buffer_ + 1 + size_, stream->keys() + stream->position, count * sizeof(uint64_t));
    stream->position += count;
    return count;
  }

  Input left_;
  Input right_;
  uint64_t buffer_[1 + kBlockKeys] = {};
};

}  // namespace

MergeTree::MergeTree(const std::vector<Leaf>& leaves) {
  const auto heavier = [](const Leaf& a, const Leaf& b) { return a.weight > b.weight; };
  std::priority_queue<Leaf, std::vector<Leaf>, decltype(heavier)> queue(heavier, leaves);
  while (queue.size() > 1) {
    const Leaf first = queue.top();
    queue.pop();
    const Leaf second = queue.top();
    queue.pop();
    nodes_.push_back(std::make_unique<MergeNode>(first.stream, second.stream));
    queue.push({first.weight + second.weight, nodes_.back().get()});
  }
  root_ = queue.empty() ? nullptr : queue.top().stream;
}

}  // namespace rlscope::analysis
