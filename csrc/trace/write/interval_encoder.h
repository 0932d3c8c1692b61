// Records of CUDA calls or of GPU work, from one piece of a ring -> CudaCallChunk, or one GpuChunk
// for each stream. Fixed size, no malloc, libc only. One thread at a time.
#ifndef RLSCOPE_TRACE_WRITE_INTERVAL_ENCODER_H_
#define RLSCOPE_TRACE_WRITE_INTERVAL_ENCODER_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/layout/cuda_record.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"
#include "trace/write/chunks.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

class IntervalEncoder {
 public:
  // Work of many streams makes many chunks, whose details differ: all must fit a buffer.
  static constexpr uint32_t kMostCalls = kChunkIntervals;
  static constexpr uint32_t kMostWork = 1024;

  struct Place {
    uint32_t thread;  // of calls
    uint32_t ring;
    uint64_t first_slot;
    uint32_t tick_shift;  // of the file
  };

  // `use` is kCudaCalls or kGpu. Drops what an unfinished piece held.
  void Begin(RingUse use, const Place& place);

  // A record with its further slots. Those that tell of no interval count as slots. Only while
  // !Full().
  void Add(const Slot& first, const Slot* more);
  bool Full() const { return count_ == (use_ == RingUse::kGpu ? kMostWork : kMostCalls); }
  uint64_t slots() const { return slots_; }
  // How many records since Begin() no producer writes there: of another use, or without a time.
  uint64_t left_out() const { return left_out_; }

  // Writes the piece. 0 or an errno value. `clamped`: calls whose times had to move are added.
  int Finish(Sink* sink, ChunkBuffer* buffer, uint64_t* clamped);

  uint64_t events() const { return events_; }  // over all finished pieces

 private:
  int FinishWork(Sink* sink, ChunkBuffer* buffer);
  bool IsBefore(uint16_t a, uint16_t b) const;
  void SortWork();
  void SiftDown(uint32_t at, uint32_t end);

  RingUse use_ = RingUse::kCudaCalls;
  Place place_ = {};
  uint32_t count_ = 0;
  uint64_t slots_ = 0;
  uint64_t left_out_ = 0;
  uint64_t events_ = 0;
  CudaCall calls_[kMostCalls];
  GpuWork work_[kMostWork];
  uint16_t order_[kMostWork];
  GpuInterval sorted_[kMostWork];
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_INTERVAL_ENCODER_H_
