// The stacks of the interpreter in one process image, from its StacksChunks. Numbers come from
// files and need not fit: a node whose function or one of whose callers is not known is not known
// either.
#ifndef RLSCOPE_TRACE_READ_STACK_TREE_H_
#define RLSCOPE_TRACE_READ_STACK_TREE_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "trace/read/chunk_parser.h"
#include "trace/read/span.h"

namespace rlscope::trace {

class StackTree {
 public:
  template <class Entry>
  using Numbered = std::vector<std::pair<uint32_t, Entry>>;  // by number, each once

  explicit StackTree(const std::vector<Span>& chunks);

  // As they are in the chunks, known or not.
  const Numbered<StackFunction>& functions() const { return functions_; }
  const Numbered<StackNode>& nodes() const { return nodes_; }

  // Null: not known. A known node's parent is 0 or known, and has a smaller number.
  const StackNode* Find(uint32_t node) const;
  const StackFunction* FunctionOf(const StackNode& node) const;

 private:
  Numbered<StackFunction> functions_;
  Numbered<StackNode> nodes_;
  std::vector<bool> is_known_;  // as `nodes_`
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_STACK_TREE_H_
