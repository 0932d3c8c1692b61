// Kernel functions by name. Kernels do not compute: a name is all there is to know of one.
#ifndef SIMCUDA_CORE_KERNELS_H_
#define SIMCUDA_CORE_KERNELS_H_

#include "core/graph.h"

namespace simcuda {

// The kernel called so; made when first asked for, never destroyed. [MT]
Kernel* FindKernel(const char* name);

bool IsKernel(const void* handle);

struct Shape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
};

// One launch. `arguments`: pointers to the kernel's arguments; `extra`: the same in CUDA's packed
// form.
Work LaunchWork(const Kernel& kernel, const Shape& shape, void* const* arguments,
                void* const* extra);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_KERNELS_H_
