// How long kernels last: the script of SIMCUDA_DURATIONS.
#ifndef SIMCUDA_CORE_DURATIONS_H_
#define SIMCUDA_CORE_DURATIONS_H_

#include <cstdint>
#include <string>

namespace simcuda {

// The next duration of the first line whose pattern matches the kernel's name, mangled or plain;
// else SIMCUDA_KERNEL_DURATION. A line's durations are played in order and repeated. [MT]
uint64_t NextDuration(const std::string& mangled, const std::string& plain);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_DURATIONS_H_
