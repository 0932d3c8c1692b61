// The GPU's work by kind and by the operation that launched it: the second pass of
// cuda_relations.h.
#ifndef RLSCOPE_ANALYSIS_CUDA_GPU_ROWS_H_
#define RLSCOPE_ANALYSIS_CUDA_GPU_ROWS_H_

#include <stdint.h>

#include <vector>

#include "analysis/cuda/cuda_result.h"
#include "analysis/cuda/launch_table.h"
#include "analysis/gpu/gpu_merge.h"
#include "analysis/process/recorded_time.h"

namespace rlscope::analysis {

// Room is made for a path's time when it is first asked for.
inline int64_t* TimeOf(std::vector<int64_t>* times, uint32_t path) {
  if (path >= times->size()) times->resize(path + 1);
  return &(*times)[path];
}

// Makes the rows of one device.
class GpuRows {
 public:
  GpuRows(const RecordedTime& recorded, const LaunchTable& launches, DeviceTime* time,
          CudaResult* result)
      : recorded_(recorded), launches_(launches), time_(time), result_(result) {}

  void Read(const std::vector<GpuInput>& inputs, const std::vector<uint32_t>& streams);

 private:
  // The state of a stream when an interval of it comes.
  struct Stream {
    size_t hint = 0;                     // of the launch table
    int64_t start_ns = INT64_MIN;        // of the interval before
    int64_t busy_until_ns = INT64_MIN;   // by all work so far,
    int64_t busy_before_ns = INT64_MIN;  // and by what started before start_ns
    bool WasIdle(int64_t time_ns) const { return busy_before_ns <= time_ns; }
    void Add(int64_t start, int64_t end);
  };

  void AddSync(const GpuMerge& at, Stream* stream);
  void AddWork(const GpuMerge& at, Stream* stream);
  void AddToUnion(uint32_t path, int64_t start_ns, int64_t end_ns);

  const RecordedTime& recorded_;
  const LaunchTable& launches_;
  DeviceTime* const time_;
  CudaResult* const result_;
  std::vector<Stream> streams_;            // by number in the inputs
  std::vector<int64_t> covered_until_ns_;  // by path: the latest end of its work so far
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_GPU_ROWS_H_
