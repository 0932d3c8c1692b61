// How long any process of a machine kept a device busy: a union over processes
// (docs/reference/semantics.md#gpus-of-a-machine).
#ifndef RLSCOPE_ANALYSIS_GPU_DEVICE_TIMES_H_
#define RLSCOPE_ANALYSIS_GPU_DEVICE_TIMES_H_

#include <stdint.h>

#include <vector>

#include "analysis/process/source.h"
#include "analysis/process/time_grid.h"

namespace rlscope::analysis {

// One process's work on the device, under the number that the device has in the process.
struct DeviceUse {
  const ProcessInput* input;
  uint32_t device;
};

struct DeviceTimes {
  TimeGrid grid;
  std::vector<int64_t> busy_ns;  // by bucket
};

// The buckets are level 0 of the grid for `whole`, which holds the time of every process. All
// processes have one clock.
DeviceTimes FindDeviceTimes(const std::vector<DeviceUse>& uses, const Span& whole,
                            uint32_t buckets);

// The time within `spans`, which ascend and do not overlap, in which any process kept the device
// busy.
int64_t FindBusyTime(const std::vector<DeviceUse>& uses, const std::vector<Span>& spans);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_GPU_DEVICE_TIMES_H_
