// One CUDA call, and one interval of work on a GPU, as the recorder, the file and the reader know
// them.
#ifndef RLSCOPE_TRACE_LAYOUT_CUDA_INTERVAL_H_
#define RLSCOPE_TRACE_LAYOUT_CUDA_INTERVAL_H_

#include <stdint.h>

namespace rlscope::trace {

struct CudaCall {
  uint64_t start_ticks;  // ascending in a chunk
  uint64_t duration;     // ticks
  uint32_t name;
  int64_t correlation;
  uint32_t status;
  uint32_t context;
  uint32_t site = 0;  // the stack that made it (trace.proto); 0: not known
};

// GpuKind of trace.proto; analysis/gpu/gpu_kinds.h has the facts of each.
enum class GpuKind : uint32_t {
  kUnknown = 0,
  kKernel = 1,
  kMemcpy = 2,
  kMemset = 3,
  kGraph = 4,
  kSync = 5,
  kOverhead = 6,  // of the profiling interface itself, on no stream
  kEnd,           // one after the last
};

// How a kernel was launched, or between what a copy went. All zero: not known.
struct GpuDetail {
  uint64_t grid = 0;           // kernel: blocks; x 32 bits, y 16, z 16, from the lowest
  uint32_t block = 0;          // kernel: threads; x 12 bits, y 12, z 8
  uint64_t shared_memory = 0;  // kernel: bytes a block; static 32 bits, dynamic 32
  uint16_t registers = 0;      // kernel: of a thread
  uint8_t how = 0;             // copy: direction | host's memory << 4; set: memory; sync: type

  bool operator==(const GpuDetail& other) const {
    return grid == other.grid && block == other.block && shared_memory == other.shared_memory &&
           registers == other.registers && how == other.how;
  }
};
// Halves of `how`, with CUPTI's numbers, which stay what they are.
enum class CopyDirection : uint8_t {
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10,
};
enum class CopyMemory : uint8_t { kUnknown = 0, kPageable = 1, kPinned = 2 };

struct GpuInterval {
  int64_t start_ns;  // CLOCK_MONOTONIC; ascending in a chunk
  int64_t duration_ns;
  GpuKind kind;
  uint32_t name;
  int64_t correlation;
  uint64_t bytes;
  uint32_t graph = 0;  // that launched it; 0 none
  GpuDetail detail;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_CUDA_INTERVAL_H_
