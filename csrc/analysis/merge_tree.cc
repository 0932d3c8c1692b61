#include "analysis/merge_tree.h"

#include <string.h>

#include <algorithm>
#include <queue>

namespace rlscope::analysis {
namespace {

// One step of a merge: the smaller of two keys, without a branch (its outcome is a coin toss).
inline void Step(const uint64_t* left, const uint64_t* right, size_t* taken, size_t at,
                 uint64_t* out) {
  const uint64_t a = left[*taken];
  const uint64_t b = right[at - *taken];
  const bool from_left = a <= b;
  out[at] = from_left ? a : b;
  *taken += from_left;
}

// Keys of one input that are at hand, ascending.
struct Run {
  const uint64_t* keys;
  size_t size;
  uint64_t last() const { return keys[size - 1]; }
};

// How many of the first `count` keys of the merge come from `left` (merge path: a binary search
// along the anti-diagonal). Without a branch, like a step.
size_t SplitPoint(const Run& left, const Run& right, size_t count) {
  size_t low = count > right.size ? count - right.size : 0;
  size_t high = std::min(count, left.size);
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const bool is_taken = left.keys[middle] <= right.keys[count - 1 - middle];
    low = is_taken ? middle + 1 : low;
    high = is_taken ? high : middle;
  }
  return low;
}

// How many keys the merge has before it needs a key that is not at hand: all of the input whose
// last key is the smaller one, and of the other those before it.
size_t CountMerged(const Run& left, const Run& right) {
  if (left.last() <= right.last()) {
    const uint64_t* const end = right.keys + right.size;
    return left.size +
           static_cast<size_t>(std::lower_bound(right.keys, end, left.last()) - right.keys);
  }
  const uint64_t* const end = left.keys + left.size;
  return right.size +
         static_cast<size_t>(std::upper_bound(left.keys, end, right.last()) - left.keys);
}

// Four merges at once, each of a quarter of the output: one merge alone waits for its own loads
// (13 % of the whole sweep). Returns how many of the `count` keys came from `left`.
size_t MergeKeys(const Run& left_run, const Run& right_run, size_t count, uint64_t* out) {
  const uint64_t* const left = left_run.keys;
  const uint64_t* const right = right_run.keys;
  size_t taken = 0;
  size_t at = 0;
  if (count >= 64) {
    const size_t quarter = count / 4;
    const size_t split1 = SplitPoint(left_run, right_run, quarter);
    const size_t split2 = SplitPoint(left_run, right_run, 2 * quarter);
    const size_t split3 = SplitPoint(left_run, right_run, 3 * quarter);
    size_t taken1 = 0, taken2 = 0, taken3 = 0;
    for (size_t i = 0; i < quarter; ++i) {
      Step(left, right, &taken, i, out);
      Step(left + split1, right + (quarter - split1), &taken1, i, out + quarter);
      Step(left + split2, right + (2 * quarter - split2), &taken2, i, out + 2 * quarter);
      Step(left + split3, right + (3 * quarter - split3), &taken3, i, out + 3 * quarter);
    }
    taken = split3 + taken3;
    at = 4 * quarter;
  }
  for (; at < count; ++at) Step(left, right, &taken, at, out);
  return taken;
}

class MergeNode : public KeyStream {
 public:
  MergeNode(KeyStream* left, KeyStream* right) : left_{left, true}, right_{right, true} {
    keys_ = buffer_;
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
    const size_t taken = MergeKeys(left, right, count, buffer_ + size_);
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
    memcpy(buffer_ + size_, stream->keys() + stream->position, count * sizeof(uint64_t));
    stream->position += count;
    return count;
  }

  Input left_;
  Input right_;
  uint64_t buffer_[kBlockKeys];
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
