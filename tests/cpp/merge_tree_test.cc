// The merge of random streams is what sorting finds, however they overlap and end.
#include "analysis/keys/merge_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace rlscope::analysis {
namespace {

// Keys that lie in memory, in blocks of odd lengths; before each stands a number that is smaller.
class MadeKeys : public KeyStream {
 public:
  MadeKeys(std::vector<uint64_t> keys, std::mt19937_64* random)
      : made_(std::move(keys)), random_(random) {
    made_.insert(made_.begin(), 0);
  }
  bool Refill() override {
    at_ += size_;
    position = 0;
    size_ = std::min<size_t>((*random_)() % kBlockKeys + 1, made_.size() - at_);
    keys_ = made_.data() + at_;
    return size_ > 0;
  }

 private:
  std::vector<uint64_t> made_;
  std::mt19937_64* const random_;
  size_t at_ = 1;
};

// Ascending, with gaps of up to `most`.
std::vector<uint64_t> MakeKeys(size_t count, uint64_t first, uint64_t most,
                               std::mt19937_64* random) {
  std::vector<uint64_t> keys;
  for (uint64_t key = first; keys.size() < count; key += 1 + (*random)() % most) {
    keys.push_back(key);
  }
  return keys;
}

std::vector<uint64_t> Merge(const std::vector<std::vector<uint64_t>>& streams,
                            std::mt19937_64* random) {
  std::vector<std::unique_ptr<MadeKeys>> made;
  std::vector<MergeTree::Leaf> leaves;
  for (const auto& keys : streams) {
    made.push_back(std::make_unique<MadeKeys>(keys, random));
    leaves.push_back({keys.size(), made.back().get()});
  }
  const MergeTree tree(leaves);
  std::vector<uint64_t> merged;
  while (tree.root()->Refill()) {
    merged.insert(merged.end(), tree.root()->keys(), tree.root()->keys() + tree.root()->size());
  }
  return merged;
}

TEST(MergeTreeTest, MergesLikeSorting) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<uint64_t>> streams(1 + random() % 6);
    std::vector<uint64_t> expected;
    for (auto& keys : streams) {
      // Some begin where others end; two of them may have equal keys, as GPU streams do.
      keys = MakeKeys(random() % 5000, 1 + random() % 20000, 1 + random() % 8, &random);
      expected.insert(expected.end(), keys.begin(), keys.end());
    }
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(Merge(streams, &random), expected) << "round " << round;
  }
}

TEST(MergeTreeTest, StreamsThatDoNotOverlapFollowEachOther) {
  std::mt19937_64 random(2);
  const auto early = MakeKeys(3000, 1, 3, &random);
  const auto late = MakeKeys(3000, 1000000, 3, &random);
  std::vector<uint64_t> expected = early;
  expected.insert(expected.end(), late.begin(), late.end());
  EXPECT_EQ(Merge({early, late}, &random), expected);
  EXPECT_EQ(Merge({late, early}, &random), expected);
}

}  // namespace
}  // namespace rlscope::analysis
