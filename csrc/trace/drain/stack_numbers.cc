#include "trace/drain/stack_numbers.h"

#include "trace/drain/text_hash.h"

namespace rlscope::trace {
namespace {

constexpr size_t kMostTextBytes = 1024;

Text Cut(Text text) { return {text.data, text.size < kMostTextBytes ? text.size : kMostTextBytes}; }

}  // namespace

uint32_t StackNumbers::Function(Text file, Text name, uint32_t line) {
  file = Cut(file);
  name = Cut(name);
  const auto file_bytes = static_cast<uint32_t>(file.size);
  const auto name_bytes = static_cast<uint32_t>(name.size);
  const uint64_t hash = HashText(name, HashText(file));
  uint32_t* const number = function_numbers_.Find({hash, line, file_bytes});
  if (number == nullptr || *number != 0) return number == nullptr ? 0 : *number;
  if (functions_ == kMostFunctions) return 0;
  const uint32_t texts = texts_.count();
  if (!texts_.Add(file.data, file_bytes) || !texts_.Add(name.data, name_bytes) ||
      !new_functions_.Add({{nullptr, file_bytes}, {nullptr, name_bytes}, line})) {
    texts_.Truncate(texts);
    return 0;
  }
  return *number = ++functions_;
}

uint32_t StackNumbers::Node(uint32_t parent, uint32_t function, uint32_t line) {
  if (function == 0) return 0;
  uint32_t* const number = node_numbers_.Find({parent, function, line});
  if (number == nullptr || *number != 0) return number == nullptr ? 0 : *number;
  if (nodes_ == kMostNodes || !new_nodes_.Add({parent, function, line})) return 0;
  return *number = ++nodes_;
}

int StackNumbers::Write(Sink* sink, ChunkBuffer* buffer, SourceFiles* files) {
  if (new_functions_.count() == 0 && new_nodes_.count() == 0) return 0;
  const char* text = texts_.begin();
  for (uint32_t i = 0; i < new_functions_.count(); i++) {
    FunctionFields& function = new_functions_[i];
    function.file.data = text;
    function.name.data = text + function.file.size;
    text += function.file.size + function.name.size;
    if (files != nullptr) files->Add(function.file);
  }
  const StackFields fields = {
      functions_ + 1 - new_functions_.count(), new_functions_.begin(), new_functions_.count(),
      nodes_ + 1 - new_nodes_.count(),         new_nodes_.begin(),     new_nodes_.count()};
  const int error = WriteStacks(sink, buffer, fields);
  new_functions_.Clear();
  texts_.Clear();
  new_nodes_.Clear();
  return error;
}

}  // namespace rlscope::trace
