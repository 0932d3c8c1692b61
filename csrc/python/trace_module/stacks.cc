#include "python/trace_module/stacks.h"

#include <utility>

namespace rlscope::python {
namespace {

std::set<uint32_t> WithCallers(const std::set<uint32_t>& stacks, const trace::StackTree& tree) {
  std::set<uint32_t> found;
  for (uint32_t number : stacks) {
    const trace::StackNode* node = tree.Find(number);
    while (node != nullptr && found.insert(number).second) {
      number = node->parent;
      node = tree.Find(number);
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> StageWords() { return {"start-up", "warm-up", "loop", "end", "whole"}; }

Columns MakeStacks(const std::set<uint32_t>& stacks, const trace::StackTree& tree) {
  std::vector<int64_t> stack, parent, line, first_line;
  std::vector<std::string> function, file;
  for (const uint32_t number : WithCallers(stacks, tree)) {
    const trace::StackNode* const node = tree.Find(number);
    const trace::StackFunction* const called = tree.FunctionOf(*node);
    stack.push_back(number);
    parent.push_back(node->parent);
    function.push_back(called->name);
    file.push_back(called->file);
    line.push_back(node->line);
    first_line.push_back(called->line);
  }
  Columns columns;
  columns.Add("stack", std::move(stack));
  columns.Add("parent", std::move(parent));
  columns.Add("function", std::move(function));
  columns.Add("file", std::move(file));
  columns.Add("line", std::move(line));
  columns.Add("first_line", std::move(first_line));
  return columns;
}

}  // namespace rlscope::python
