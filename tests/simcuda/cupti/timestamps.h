// Times in CUPTI's records: the client's clock, or CLOCK_REALTIME where it gave none.
//
// Device times are read on the GPU's clock and converted when a record is written, on the line
// through two moments at which both clocks were read: when the session began and now.
#ifndef SIMCUDA_CUPTI_TIMESTAMPS_H_
#define SIMCUDA_CUPTI_TIMESTAMPS_H_

#include <cstdint>

namespace simcuda {

using TimestampFunction = uint64_t (*)();

// A CUPTI status: SIMCUPTI_TIMESTAMP_CALLBACK may refuse it. [MT]
int SetTimestampFunction(TimestampFunction function);

// The clock of CPU times, now. [MT]
uint64_t CpuTimestamp();

// Reads the clocks: the first call begins the session, every later one moves the lines' second
// points. Not [MT].
void SampleClocks();

// A CLOCK_MONOTONIC time, of the device or of a CPU that waited for it, on the clock of the
// records. After SampleClocks. Not [MT].
uint64_t DeviceTimestamp(uint64_t monotonic_ns);
uint64_t HostTimestamp(uint64_t monotonic_ns);

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_TIMESTAMPS_H_
