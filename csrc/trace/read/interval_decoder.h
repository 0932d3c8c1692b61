// CudaCallChunk and GpuChunk payloads -> columns, as carefully as decoder.h.
#ifndef RLSCOPE_TRACE_READ_INTERVAL_DECODER_H_
#define RLSCOPE_TRACE_READ_INTERVAL_DECODER_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "trace/layout/cuda_interval.h"
#include "trace/read/span.h"

namespace rlscope::trace {

// Which columns of intervals are wanted.
enum class Detail {
  kTimes,  // start, end, and of GPU work the kind; the others are only checked for their length
  kNames,  // of CUDA calls their names, too
  kAll,
};

struct CudaCallHeader {
  uint32_t thread = 0;
  uint32_t ring = 0;
  uint64_t first_slot = 0;
  uint64_t slots = 0;
  uint64_t base_ticks = 0;
  uint64_t last_ticks = 0;
  uint32_t count = 0;
  Span step, duration, name, correlation, status, context, site;
};
bool ParseCudaCallHeader(const uint8_t* payload, size_t size, CudaCallHeader* header);

struct CudaCallColumns {
  uint32_t count = 0;
  std::vector<uint64_t> start;  // ticks, ascending
  std::vector<uint64_t> end;
  std::vector<uint32_t> name;
  std::vector<int64_t> correlation;
  std::vector<uint32_t> status;
  std::vector<uint32_t> context;
  std::vector<uint32_t> site;
};
bool DecodeCudaCalls(const CudaCallHeader& header, Detail detail, CudaCallColumns* columns);

struct GpuHeader {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  int64_t min_start_ns = 0;
  int64_t max_end_ns = 0;
  uint32_t count = 0;
  uint32_t ring = 0;
  uint64_t first_slot = 0;
  uint64_t slots = 0;
  Span step, duration, kind, name, correlation, bytes, graph, detail, details;
};
bool ParseGpuHeader(const uint8_t* payload, size_t size, GpuHeader* header);

struct GpuColumns {
  uint32_t count = 0;
  std::vector<int64_t> start_ns;  // ascending
  std::vector<int64_t> end_ns;    // >= start_ns
  std::vector<uint32_t> kind;     // GpuKind
  std::vector<uint32_t> name;
  std::vector<int64_t> correlation;
  std::vector<uint64_t> bytes;
  std::vector<uint32_t> graph;
  std::vector<GpuDetail> details;

  void Resize(size_t size, Detail detail);  // room for `size` intervals
};
bool DecodeGpu(const GpuHeader& header, Detail detail, GpuColumns* columns);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_INTERVAL_DECODER_H_
