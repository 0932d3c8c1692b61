// Records that another CUPTI wrote, in place of the test double's own: SIMCUPTI_REPLAY names a
// records.txt of tests/gpu/programs/witness.c.
#ifndef SIMCUDA_CUPTI_REPLAY_H_
#define SIMCUDA_CUPTI_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cupti/records.h"

namespace simcuda {

// Whether there is such a file. One that cannot be read ends the process. [MT]
bool Replays();

// The file's records the first time, none afterwards.
std::vector<Bytes> TakeReplayed();

// Bytes of the file's records of this kind; 0: it has none. [MT]
size_t ReplayedBytes(uint32_t kind);

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_REPLAY_H_
