// Names of operations that lie around the training loop.
#ifndef RLSCOPE_ANALYSIS_KEYS_LOOP_NAMES_H_
#define RLSCOPE_ANALYSIS_KEYS_LOOP_NAMES_H_

#include <string_view>

namespace rlscope::analysis {

// Whether an operation with this outermost name lies around the loop and does not make it longer.
bool IsAroundLoop(std::string_view name);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_LOOP_NAMES_H_
