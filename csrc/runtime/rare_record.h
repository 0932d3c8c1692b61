// Records of rare kinds, which take the slow path whatever the ring holds.
#ifndef RLSCOPE_RUNTIME_RARE_RECORD_H_
#define RLSCOPE_RUNTIME_RARE_RECORD_H_

#include <stdint.h>

namespace rlscope::runtime {

// Writes one record of a rare kind at `ticks`, at the latest record's time if that is later, even
// when the ring is full. Returns the time it wrote; 0: there is no room at all. Needs process_lock
// and an open image.
uint64_t WriteRare(uint32_t kind, uint32_t id, uint64_t ticks);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_RARE_RECORD_H_
