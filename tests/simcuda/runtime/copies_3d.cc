// Copies of three dimensions, as far as one will do: the driver refuses a depth over 1.
#include "runtime/call.h"
#include "runtime/copy_3d.h"

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_STREAM_CALL(cudaMemcpy3D, _ptds, (const Copy3DParameters* parameters), {
  Copy3D copy = Describe(*parameters);
  return On(nullptr) == nullptr ? DRIVER(cuMemcpy3D_v2)(&copy) : DRIVER(cuMemcpy3D_v2_ptds)(&copy);
})

SIM_STREAM_CALL(cudaMemcpy3DAsync, _ptsz, (const Copy3DParameters* parameters, void* stream), {
  Copy3D copy = Describe(*parameters);
  return DRIVER(cuMemcpy3DAsync_v2)(&copy, On(stream));
})
