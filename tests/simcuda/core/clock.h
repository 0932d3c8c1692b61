// CLOCK_MONOTONIC, on which everything is simulated, and the simulated GPU's own clock.
#ifndef SIMCUDA_CORE_CLOCK_H_
#define SIMCUDA_CORE_CLOCK_H_

#include <cstdint>

namespace simcuda {

uint64_t NowNs();

// Returns at `deadline_ns` or just after it, never before.
void WaitUntil(uint64_t deadline_ns);

// What the GPU's clock shows at `now_ns`: SIMCUDA_GPU_DRIFT_PPM fast, SIMCUDA_GPU_SKEW ahead.
uint64_t DeviceClockNs(uint64_t now_ns);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_CLOCK_H_
