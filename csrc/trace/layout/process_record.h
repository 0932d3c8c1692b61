// Records of processes.log in bytes that may be damaged: finds the intact ones. Libc only.
#ifndef RLSCOPE_TRACE_LAYOUT_PROCESS_RECORD_H_
#define RLSCOPE_TRACE_LAYOUT_PROCESS_RECORD_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

// A log that is longer is not read beyond this: half a million records.
constexpr uint64_t kMostLogBytes = 64 << 20;

// The offset of the first intact record, of any version, at or after `from`; it is copied to
// *record. SIZE_MAX: none. A record that a full disk cut short misaligns those after it, so every
// offset is tried.
size_t FindRecord(const uint8_t* data, size_t size, size_t from, ProcessRecord* record);

// How many of `size` bytes, searched to the end, need no second look when the log has grown. `end`:
// of the last record that was found, 0 none.
constexpr size_t BytesDone(size_t size, size_t end) {
  return size - end < sizeof(ProcessRecord) ? end : size - sizeof(ProcessRecord) + 1;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_PROCESS_RECORD_H_
