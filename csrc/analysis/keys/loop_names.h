// Names of operations by which the training loop is found
// (docs/reference/semantics.md#the-training-loop).
#ifndef RLSCOPE_ANALYSIS_KEYS_LOOP_NAMES_H_
#define RLSCOPE_ANALYSIS_KEYS_LOOP_NAMES_H_

#include <string>
#include <string_view>

namespace rlscope::analysis {

// Those of the group "learning".
constexpr std::string_view kLearningNames[] = {
    "learning", "learn",         "backprop",  "backward",   "forward",
    "loss",     "optimizer",     "optimiser", "optimize",   "optimizer_step",
    "gradient", "gradients",     "update",    "train_step", "training_step",
    "target",   "target_update", "advantage", "advantages",
};

// A name as names are compared: in lower case, without what follows a ':'.
std::string PlainName(std::string_view name);

// These take plain names.

// Whether an operation with this outermost name lies around the loop and does not make it longer.
bool IsAroundLoop(std::string_view name);
// Whether it only prepares the loop, too.
bool IsWarmUp(std::string_view name);
// Whether an operation with this name on its path learns. A forward alone may try a network.
bool IsLearning(std::string_view name);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_LOOP_NAMES_H_
