// Enter and exit of API calls: CUPTI's callbacks, the truth's times, correlation ids.
#ifndef SIMCUDA_CORE_API_CALL_H_
#define SIMCUDA_CORE_API_CALL_H_

#include "core/interface.h"

namespace simcuda {

// In this order: enter time, enter callback, start time, [the body], end time, exit callback, exit
// time, the line of the truth file.
void BeginCall(ApiCall* call);
void EndCall(ApiCall* call, int status);

// Correlation id of the calling thread's outermost call.
uint32_t CurrentCorrelation();
uint32_t ThreadId();

// After MarkInitialized: true in every child made by fork or clone, however it was made. [MT]
void MarkInitialized();
bool Forked();

}  // namespace simcuda

#endif  // SIMCUDA_CORE_API_CALL_H_
