// Host functions: called by a thread of the test double when their stream has come to them.
#ifndef SIMCUDA_CORE_HOST_FUNCTIONS_H_
#define SIMCUDA_CORE_HOST_FUNCTIONS_H_

#include <cstdint>
#include <functional>

namespace simcuda {

// Calls `function` at `time_ns` (CLOCK_MONOTONIC); functions run one at a time, in order of time.
// [MT]
void CallAt(uint64_t time_ns, uint32_t context, uint32_t stream, std::function<void()> function);

// Returns when every function of the stream (kNoId: of the context) due by `time_ns` has returned.
// [MT]
void WaitForHostFunctions(uint64_t time_ns, uint32_t context, uint32_t stream);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_HOST_FUNCTIONS_H_
