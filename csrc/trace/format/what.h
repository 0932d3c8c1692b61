// An entry of a CpuChunk's dictionary: a kind of record and the id of a name.
#ifndef RLSCOPE_TRACE_FORMAT_WHAT_H_
#define RLSCOPE_TRACE_FORMAT_WHAT_H_

#include <stdint.h>

namespace rlscope::trace {

// Kind and id of an item, as in the file's dictionary: id << 5 | kind (record.h).
//
// A kOperationExit with id 0 closes the innermost open operation of the running task's own stack
// (nothing when that is empty: it was entered before a window or a gap). Other exits name the
// operation: the innermost open instance of that name in the running task, else outside of tasks.
constexpr uint32_t kWhatKindBits = 5;
constexpr uint32_t MakeWhat(uint32_t kind, uint32_t id) { return id << kWhatKindBits | kind; }
constexpr uint32_t WhatKind(uint32_t what) { return what & 31; }
constexpr uint32_t WhatId(uint32_t what) { return what >> kWhatKindBits; }

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_FORMAT_WHAT_H_
