// Records of CUDA calls and of work on the GPU, as they lie in rings: packed into slots; each slot
// but the first holds 12 bytes.
#ifndef RLSCOPE_TRACE_LAYOUT_CUDA_RECORD_H_
#define RLSCOPE_TRACE_LAYOUT_CUDA_RECORD_H_

#include <stdint.h>

#include "trace/layout/cuda_interval.h"
#include "trace/layout/record.h"

namespace rlscope::trace {

// ---- CUDA calls ---------------------------------------------------------------------------------
//
//   first   | start in ticks          | duration, low | name |
//   second  | correlation | context   | duration, high 16; status 16 |
//   third   | call site               | 0             |      of kLineCudaCall only

constexpr uint32_t kMostCudaStatus = 0xffff;

// The second slot's payload: `duration` in ticks, below 2^48 (a day at 3 GHz).
constexpr uint64_t CudaCallPayload(uint32_t correlation, uint32_t context) {
  return uint64_t{context} << 32 | correlation;
}
constexpr uint32_t CudaCallMore(uint64_t duration, uint32_t status) {
  return static_cast<uint32_t>(duration >> 32 & 0xffff) |
         (status < kMostCudaStatus ? status : kMostCudaStatus) << 16;
}

// Times in ticks of a file whose unit is 2^tick_shift of the clock's.
inline CudaCall UnpackCudaCall(const Slot& first, const Slot* more, uint32_t tick_shift) {
  const Slot& second = more[0];
  const uint64_t duration = uint64_t{second.duration & 0xffff} << 32 | first.duration;
  const uint64_t start = first.tsc >> tick_shift;
  CudaCall call;
  call.start_ticks = start;
  call.duration = ((first.tsc + duration) >> tick_shift) - start;
  call.name = IdOf(first.word);
  call.correlation = static_cast<uint32_t>(second.tsc);
  call.status = second.duration >> 16;
  call.context = static_cast<uint32_t>(second.tsc >> 32);
  call.site = KindOf(first.word) == kLineCudaCall ? static_cast<uint32_t>(more[1].tsc) : 0;
  return call;
}

// ---- GPU work -----------------------------------------------------------------------------------
//
//   0  | start, CLOCK_MONOTONIC ns                  | duration, low     | name |
//   1  | correlation 32 | context 32                | stream            |
//   2  | bytes, or grid: x 32 | y 16 | z 16         | block: x 12 | y 12 | z 8 |
//   3  | shared memory: static 32 | dynamic 32      | graph             |
//   4  | duration, high 16 | device 16 | kind 8 | how 8 | registers 16 |
struct GpuWork {
  GpuInterval interval;  // with its detail
  uint32_t device;
  uint32_t context;
  uint32_t stream;
};

// `slots` are those of a ring: their words are written by the caller.
inline void PackGpuWork(const GpuWork& work, Slot* slots) {
  const GpuInterval& interval = work.interval;
  const GpuDetail& detail = interval.detail;
  const auto duration = static_cast<uint64_t>(interval.duration_ns);
  slots[0].tsc = static_cast<uint64_t>(interval.start_ns);
  slots[0].duration = static_cast<uint32_t>(duration);
  slots[1].tsc = uint64_t{work.context} << 32 | static_cast<uint32_t>(interval.correlation);
  slots[1].duration = work.stream;
  slots[2].tsc = interval.kind == GpuKind::kKernel ? detail.grid : interval.bytes;
  slots[2].duration = detail.block;
  slots[3].tsc = detail.shared_memory;
  slots[3].duration = interval.graph;
  slots[4].tsc = (duration >> 32 & 0xffff) | uint64_t{work.device & 0xffff} << 16 |
                 static_cast<uint64_t>(interval.kind) << 32 | uint64_t{detail.how} << 40 |
                 uint64_t{detail.registers} << 48;
  slots[4].duration = 0;
}

inline GpuWork UnpackGpuWork(const Slot& first, const Slot* more) {
  const uint64_t last = more[3].tsc;
  GpuWork work = {};
  GpuInterval* interval = &work.interval;
  interval->start_ns = static_cast<int64_t>(first.tsc);
  interval->duration_ns = static_cast<int64_t>((last & 0xffff) << 32 | first.duration);
  interval->kind = static_cast<GpuKind>(last >> 32 & 0xff);
  interval->name = IdOf(first.word);
  interval->correlation = static_cast<uint32_t>(more[0].tsc);
  const bool is_kernel = interval->kind == GpuKind::kKernel;
  interval->bytes = is_kernel ? 0 : more[1].tsc;
  interval->graph = more[2].duration;
  interval->detail.grid = is_kernel ? more[1].tsc : 0;
  interval->detail.block = more[1].duration;
  interval->detail.shared_memory = more[2].tsc;
  interval->detail.how = static_cast<uint8_t>(last >> 40);
  interval->detail.registers = static_cast<uint16_t>(last >> 48);
  work.device = static_cast<uint32_t>(last >> 16 & 0xffff);
  work.context = static_cast<uint32_t>(more[0].tsc >> 32);
  work.stream = more[0].duration;
  return work;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_CUDA_RECORD_H_
