// What importers make of the rows of another tool's trace, before they are written: intervals of
// threads, and of GPUs, sorted by where and when they were.
#ifndef RLSCOPE_IMPORTERS_ROWS_H_
#define RLSCOPE_IMPORTERS_ROWS_H_

#include <stdint.h>

#include <tuple>

#include "trace/layout/cuda_interval.h"

namespace rlscope::importers {

// The place of something in a list, as the value of a map: maps of standard types alone would be
// exported by the module, since nothing hides what they instantiate.
struct Place {
  uint32_t number = 0;
};

enum class ThreadRowKind : uint32_t {
  kIteration,
  kOperation,
  kCall,  // of native code
  kCudaCall,
  kPython,  // a function of Python: what lies directly inside of a call is a callback
};

struct ThreadRow {
  uint32_t thread;
  ThreadRowKind kind;
  int64_t start_ns;
  int64_t end_ns;
  int64_t correlation;  // of CUDA calls
  uint64_t number;      // of the row in its file
  uint32_t name;
  uint32_t longest_first;  // one value for all rows of a process

  // If the tool writes a thread's rows in the order in which they began, rows with one start stay
  // in the order of their file. Lengths say less then: if two calls start in one microsecond, the
  // first may be the shorter one. In other files, the longer one holds the other.
  bool operator<(const ThreadRow& other) const {
    if (thread != other.thread) return thread < other.thread;
    if (start_ns != other.start_ns) return start_ns < other.start_ns;
    if (longest_first != 0 && end_ns != other.end_ns) return end_ns > other.end_ns;
    return number < other.number;
  }
};

struct GpuRow {
  uint32_t stream;  // by place in a list
  trace::GpuKind kind;
  int64_t start_ns;
  int64_t duration_ns;
  int64_t correlation;
  uint64_t bytes;
  uint64_t number;
  uint32_t name;
  uint32_t how;         // GpuDetail::how
  uint32_t graph;       // GpuInterval::graph
  uint32_t unused = 0;  // rows are written to files byte by byte

  bool operator<(const GpuRow& other) const {
    return std::tie(stream, start_ns, number) <
           std::tie(other.stream, other.start_ns, other.number);
  }
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_ROWS_H_
