// Events by kind: what bookkeeping is priced with.
#ifndef RLSCOPE_TRACE_READ_EVENT_COUNTS_H_
#define RLSCOPE_TRACE_READ_EVENT_COUNTS_H_

#include <stdint.h>

#include <algorithm>

#include "trace/format/archive.h"
#include "trace/read/reader.h"

namespace rlscope::trace {

struct EventCounts {
  uint64_t operations = 0;  // begun
  uint64_t automatic = 0;   // segments of automatic operations
  uint64_t native_calls = 0;
  uint64_t cuda_calls = 0;
  uint64_t gpu_work = 0;

  uint64_t Sum() const { return operations + automatic + native_calls + cuda_calls + gpu_work; }

  // A file may hold any number.
  void Add(const CpuChunkRef& chunk) {
    const uint32_t begun = std::min(chunk.operations, chunk.events);
    const uint32_t found = std::min(chunk.automatic, chunk.events - begun);
    operations += begun;
    automatic += found;
    native_calls += chunk.events - begun - found;
  }

  void Carry(Archive* archive) {
    for (uint64_t* count : {&operations, &automatic, &native_calls, &cuda_calls, &gpu_work}) {
      archive->Number(count);
    }
  }
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_EVENT_COUNTS_H_
