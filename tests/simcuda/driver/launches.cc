// Kernel launches.
#include "core/kernels.h"
#include "core/timeline.h"
#include "driver/call.h"

namespace simcuda {
namespace {

const char* NameOf(void* function) {
  return IsKernel(function) ? static_cast<Kernel*>(function)->name.c_str() : nullptr;
}

bool Fits(const Kernel& kernel, const Shape& shape) {
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] == 0 || shape.block[i] == 0) return false;
  }
  uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  return threads <= 1024 && shape.shared_bytes <= kernel.dynamic_shared_limit;
}

int Launch(void* function, const Shape& shape, void* stream_handle, void* const* arguments,
           void* const* extra) {
  if (!IsKernel(function)) return kInvalidHandle;
  const auto& kernel = *static_cast<Kernel*>(function);
  if (!Fits(kernel, shape)) return kInvalidValue;
  Work work = LaunchWork(kernel, shape, arguments, extra);
  Submission submission;
  Stream* stream = FindStream(stream_handle);
  if (stream == nullptr) return CurrentContext() == nullptr ? kInvalidContext : kInvalidHandle;
  return submission.Add(stream, std::move(work));
}

Shape ShapeOf(const LaunchConfig& config) {
  return {{config.grid[0], config.grid[1], config.grid[2]},
          {config.block[0], config.block[1], config.block[2]},
          config.shared_bytes};
}

void* PerThread(void* stream) { return stream == nullptr ? kPerThreadHandle : stream; }

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuLaunchKernel(void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void* stream, void** arguments, void** extra) {
  Shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  SIM_CALL_OF(NameOf(kernel), { return Launch(kernel, shape, stream, arguments, extra); });
}

SIM_EXPORT int cuLaunchKernel_ptsz(void* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z,
                                   unsigned shared_bytes, void* stream, void** arguments,
                                   void** extra) {
  Shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  SIM_CALL_OF(NameOf(kernel),
              { return Launch(kernel, shape, PerThread(stream), arguments, extra); });
}

SIM_EXPORT int cuLaunchKernelEx(const LaunchConfig* config, void* kernel, void** arguments,
                                void** extra) {
  SIM_CALL_OF(NameOf(kernel),
              { return Launch(kernel, ShapeOf(*config), config->stream, arguments, extra); });
}

SIM_EXPORT int cuLaunchKernelEx_ptsz(const LaunchConfig* config, void* kernel, void** arguments,
                                     void** extra) {
  SIM_CALL_OF(NameOf(kernel), {
    return Launch(kernel, ShapeOf(*config), PerThread(config->stream), arguments, extra);
  });
}

SIM_EXPORT int cuLaunchCooperativeKernel(void* kernel, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared_bytes, void* stream,
                                         void** arguments) {
  Shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  SIM_CALL_OF(NameOf(kernel), { return Launch(kernel, shape, stream, arguments, nullptr); });
}

SIM_EXPORT int cuLaunchCooperativeKernel_ptsz(void* kernel, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared_bytes, void* stream,
                                              void** arguments) {
  Shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  SIM_CALL_OF(NameOf(kernel),
              { return Launch(kernel, shape, PerThread(stream), arguments, nullptr); });
}

SIM_EXPORT int cuProfilerStart() {
  SIM_CALL({ return kSuccess; });
}

SIM_EXPORT int cuProfilerStop() {
  SIM_CALL({ return kSuccess; });
}
