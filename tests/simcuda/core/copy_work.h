// Copies and memsets as work: which memory is which, what it counts as, and the change of memory
// itself.
#ifndef SIMCUDA_CORE_COPY_WORK_H_
#define SIMCUDA_CORE_COPY_WORK_H_

#include "core/graph.h"

namespace simcuda {

// Rows of `width` bytes; pitches are the distances between starts of rows, and one row needs none.
struct Rows {
  void* destination;
  size_t destination_pitch;
  const void* source;
  size_t source_pitch;
  size_t width;
  size_t height;
};

Rows OneRow(void* destination, const void* source, size_t bytes);

// Direction, memory kinds and devices are those of the addresses; a copy between two devices counts
// as peer copy.
Work CopyWork(const Rows& rows, bool asynchronous);

// Whether an asynchronous call with this work returns only when it is done: pageable memory is read
// into, which CUDA does through a staging buffer that the CPU empties.
bool WaitsForPageable(const Work& copy);

// Elements of 1, 2 or 4 bytes.
Work MemsetWork(void* destination, size_t pitch, uint32_t value, size_t element_bytes, size_t width,
                size_t height, bool asynchronous);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_COPY_WORK_H_
