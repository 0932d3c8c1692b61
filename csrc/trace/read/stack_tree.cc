#include "trace/read/stack_tree.h"

#include <stddef.h>

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace rlscope::trace {
namespace {

// Entries whose number would not fit 32 bits are left out, and so is number 0.
template <class Entry>
void Append(uint32_t first, std::vector<Entry>* entries, StackTree::Numbered<Entry>* to) {
  for (uint64_t i = 0; i < entries->size(); ++i) {
    const uint64_t number = first + i;
    if (number == 0 || number > UINT32_MAX) continue;
    to->emplace_back(static_cast<uint32_t>(number), std::move((*entries)[i]));
  }
}

// A chunk may be there twice, as after a roll-up that was interrupted.
template <class Entry>
void SortOnce(StackTree::Numbered<Entry>* entries) {
  const auto is_before = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto is_same = [](const auto& a, const auto& b) { return a.first == b.first; };
  std::stable_sort(entries->begin(), entries->end(), is_before);
  entries->erase(std::unique(entries->begin(), entries->end(), is_same), entries->end());
}

// Its place, or the size.
template <class Entry>
size_t PlaceOf(uint32_t number, const StackTree::Numbered<Entry>& entries) {
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), number,
                       [](const auto& entry, uint32_t key) { return entry.first < key; });
  const bool is_there = found != entries.end() && found->first == number;
  return is_there ? static_cast<size_t>(found - entries.begin()) : entries.size();
}

void MakeUtf8(std::string* text) {
  base::ReplaceInvalidUtf8(reinterpret_cast<uint8_t*>(text->data()), text->size());
}

}  // namespace

StackTree::StackTree(const std::vector<Span>& chunks) {
  for (const Span& chunk : chunks) {
    StacksPart part;
    ParseStacks(chunk, &part);
    Append(part.first_function, &part.functions, &functions_);
    Append(part.first_node, &part.nodes, &nodes_);
  }
  SortOnce(&functions_);
  SortOnce(&nodes_);
  for (auto& [number, function] : functions_) {
    MakeUtf8(&function.file);
    MakeUtf8(&function.name);
  }
  for (const auto& [number, node] : nodes_) {
    const bool begins = node.parent == 0;
    const bool is_called = node.parent < number && (begins || Find(node.parent) != nullptr);
    is_known_.push_back(is_called && FunctionOf(node) != nullptr);
  }
}

const StackNode* StackTree::Find(uint32_t node) const {
  const size_t place = PlaceOf(node, nodes_);
  return place < is_known_.size() && is_known_[place] ? &nodes_[place].second : nullptr;
}

const StackFunction* StackTree::FunctionOf(const StackNode& node) const {
  const size_t place = PlaceOf(node.function, functions_);
  return place < functions_.size() ? &functions_[place].second : nullptr;
}

}  // namespace rlscope::trace
