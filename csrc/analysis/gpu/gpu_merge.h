// Intervals of several GPU streams of a process, one after the other.
#ifndef RLSCOPE_ANALYSIS_GPU_GPU_MERGE_H_
#define RLSCOPE_ANALYSIS_GPU_GPU_MERGE_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "analysis/gpu/gpu_kinds.h"
#include "analysis/process/source.h"

namespace rlscope::analysis {

// They come in order of start. Those that start at one time come in the order of their streams'
// numbers.
class GpuMerge {
 public:
  // `streams` are indexes into `inputs`, which must outlive the merge.
  GpuMerge(const std::vector<GpuInput>& inputs, const std::vector<uint32_t>& streams,
           trace::Detail detail);

  // Goes to the next interval. False: there is none.
  bool Next();

  // The interval that Next() went to; only after it was true.
  uint32_t stream() const { return current_->number; }
  const trace::GpuBatch& batch() const { return *current_->batch; }
  uint32_t index() const { return current_->index; }  // in the batch
  int64_t start_ns() const { return batch().start_ns[index()]; }
  int64_t end_ns() const { return batch().end_ns[index()]; }
  uint32_t kind() const { return batch().kind[index()]; }

 private:
  // Opened when its first interval is due: an open one holds a decoded chunk.
  struct Stream {
    uint32_t number;
    bool opened = false;
    std::unique_ptr<GpuSource> source;
    const trace::GpuBatch* batch = nullptr;
    uint32_t index = 0;
  };
  struct Head {
    int64_t start_ns;
    Stream* stream;
    bool IsLater(const Head& other) const {
      return start_ns > other.start_ns ||
             (start_ns == other.start_ns && stream->number > other.stream->number);
    }
  };
  static bool IsLater(const Head& one, const Head& other) { return one.IsLater(other); }
  static Head HeadOf(Stream* stream) { return {stream->batch->start_ns[stream->index], stream}; }

  bool Open(Stream* stream);
  static bool Load(Stream* stream);
  static bool Advance(Stream* stream);
  void Push(const Head& head);

  const std::vector<GpuInput>& inputs_;
  const trace::Detail detail_;
  std::vector<Stream> streams_;
  std::vector<Head> heads_;  // a heap, the earliest first; without the current one
  Stream* current_ = nullptr;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_GPU_GPU_MERGE_H_
