// cudaMemcpy3DParms, and the driver's description of the same copy.
#ifndef SIMCUDA_RUNTIME_COPY_3D_H_
#define SIMCUDA_RUNTIME_COPY_3D_H_

#include "driver/driver.h"

namespace simcuda {

struct Position {
  size_t x, y, z;
};
struct Pitched {
  char* pointer;
  size_t pitch, width, height;
};
struct Copy3DParameters {
  void* source_array;
  Position source_position;
  Pitched source;
  void* destination_array;
  Position destination_position;
  Pitched destination;
  Position extent;
  int kind;
};
static_assert(sizeof(Copy3DParameters) == 160, "cudaMemcpy3DParms of driver_types.h");

inline Copy3D OneRow(void* destination, const void* source, size_t bytes) {
  Copy3D copy{};
  constexpr uint32_t kUnified = 4;  // CUmemorytype
  copy.source_type = copy.destination_type = kUnified;
  copy.source_device = reinterpret_cast<DevicePointer>(source);
  copy.destination_device = reinterpret_cast<DevicePointer>(destination);
  copy.width_bytes = bytes;
  copy.height = copy.depth = 1;
  return copy;
}

inline Copy3D Describe(const Copy3DParameters& parameters) {
  Copy3D copy =
      OneRow(parameters.destination.pointer, parameters.source.pointer, parameters.extent.x);
  copy.source_x = parameters.source_position.x;
  copy.source_y = parameters.source_position.y;
  copy.source_z = parameters.source_position.z;
  copy.source_pitch = parameters.source.pitch;
  copy.source_height = parameters.source.height;
  copy.destination_x = parameters.destination_position.x;
  copy.destination_y = parameters.destination_position.y;
  copy.destination_z = parameters.destination_position.z;
  copy.destination_pitch = parameters.destination.pitch;
  copy.destination_height = parameters.destination.height;
  copy.height = parameters.extent.y;
  copy.depth = parameters.extent.z;
  return copy;
}

}  // namespace simcuda

#endif  // SIMCUDA_RUNTIME_COPY_3D_H_
