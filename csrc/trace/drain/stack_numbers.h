// The stacks of a process image, as a tree of lines that grows, and what of it is still to be
// written (trace.proto, StacksChunk). Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_STACK_NUMBERS_H_
#define RLSCOPE_TRACE_DRAIN_STACK_NUMBERS_H_

#include <stdint.h>

#include "trace/drain/growing_array.h"
#include "trace/drain/number_table.h"
#include "trace/drain/source_files.h"
#include "trace/write/chunks.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

constexpr uint32_t kMostFunctions = 1 << 16;
constexpr uint32_t kMostNodes = 1 << 18;

class StackNumbers {
 public:
  // Its number, from 1 on; 0: there are too many. Texts of more than 1,024 bytes are cut.
  uint32_t Function(Text file, Text name, uint32_t line);

  // The node of a line in a call from `parent`, which is a node or 0; 0: there are too many, or
  // `function` is 0.
  uint32_t Node(uint32_t parent, uint32_t function, uint32_t line);

  // What is new since the last call; `files`, if there are any, gets the files of functions.
  // 0 or an errno.
  int Write(Sink* sink, ChunkBuffer* buffer, SourceFiles* files);

 private:
  NumberTable function_numbers_;  // by a hash of the texts: 64 bits, taken for the texts themselves
  NumberTable node_numbers_;
  uint32_t functions_ = 0, nodes_ = 0;
  GrowingArray<FunctionFields> new_functions_;  // of the texts only how long they are
  GrowingArray<char> texts_;                    // one after the other: file, name, file, ...
  GrowingArray<NodeFields> new_nodes_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_STACK_NUMBERS_H_
