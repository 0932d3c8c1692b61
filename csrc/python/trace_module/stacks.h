// Stacks and stages as columns, for what the sweep and the pass over CUDA find of them.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_STACKS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_STACKS_H_

#include <stdint.h>

#include <set>
#include <string>
#include <vector>

#include "python/trace_module/columns.h"
#include "trace/read/stack_tree.h"

namespace rlscope::python {

// By number, as LoopStages has them.
std::vector<std::string> StageWords();

// Those of the stacks that are known, and those that called them, by number.
Columns MakeStacks(const std::set<uint32_t>& stacks, const trace::StackTree& tree);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_STACKS_H_
