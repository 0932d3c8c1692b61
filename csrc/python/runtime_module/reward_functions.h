// Python functions that compute a reward by networks, by their names: predict_reward(),
// compute_intrinsic_reward(), novelty(). Those that step an environment are none. Needs the GIL.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_REWARD_FUNCTIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_REWARD_FUNCTIONS_H_

#include "python/runtime_module/telling_functions.h"

namespace rlscope::python {

// That of the innermost calls that the thread is in. Null: none of them is one.
TellingFunction* FindRewardFunction();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_REWARD_FUNCTIONS_H_
