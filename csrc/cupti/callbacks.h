// What happens at a callback of CUPTI: a CUDA call begins or ends, a module is unloaded.
#ifndef RLSCOPE_CUPTI_CALLBACKS_H_
#define RLSCOPE_CUPTI_CALLBACKS_H_

#include <stdint.h>

#include "cupti/library.h"

namespace rlscope::cupti {

// The callback of the subscription. Called by CUPTI in the program's threads, around its calls.
void OnCallback(void* user, uint32_t domain, uint32_t id, const CallbackData* data);

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_CALLBACKS_H_
