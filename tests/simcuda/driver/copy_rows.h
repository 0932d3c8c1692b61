// CUDA's descriptions of pitched copies, read as rows.
#ifndef SIMCUDA_DRIVER_COPY_ROWS_H_
#define SIMCUDA_DRIVER_COPY_ROWS_H_

#include "core/copy_work.h"
#include "driver/driver.h"

namespace simcuda {

constexpr uint32_t kHostMemory = 1;  // CUmemorytype; every other kind stands in the device word

// The rows of a Copy2D, or of a Copy3D as if it began at depth 0. Arrays do not exist here.
template <class Description>
Rows RowsOf(const Description& copy) {
  const void* source = copy.source_type == kHostMemory
                           ? copy.source_host
                           : reinterpret_cast<const void*>(copy.source_device);
  void* destination = copy.destination_type == kHostMemory
                          ? copy.destination_host
                          : reinterpret_cast<void*>(copy.destination_device);
  return {static_cast<char*>(destination) + copy.destination_y * copy.destination_pitch +
              copy.destination_x,
          copy.destination_pitch,
          static_cast<const char*>(source) + copy.source_y * copy.source_pitch + copy.source_x,
          copy.source_pitch,
          copy.width_bytes,
          copy.height};
}

// The one slice of a copy of depth 1.
inline Rows SliceOf(const Copy3D& copy) {
  Rows rows = RowsOf(copy);
  rows.source = static_cast<const char*>(rows.source) +
                copy.source_z * copy.source_pitch * copy.source_height;
  rows.destination = static_cast<char*>(rows.destination) +
                     copy.destination_z * copy.destination_pitch * copy.destination_height;
  if (copy.depth == 0) rows.height = 0;
  return rows;
}

}  // namespace simcuda

#endif  // SIMCUDA_DRIVER_COPY_ROWS_H_
