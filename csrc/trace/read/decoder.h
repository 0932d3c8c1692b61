// CpuChunk payloads -> columns. Every byte is checked: a hostile
// payload gives false, never a read out of bounds, never an absurd allocation (an item takes at
// least one byte of payload).
#ifndef RLSCOPE_TRACE_READ_DECODER_H_
#define RLSCOPE_TRACE_READ_DECODER_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "trace/format/open_operations.h"
#include "trace/format/what.h"
#include "trace/layout/record.h"
#include "trace/read/span.h"

namespace rlscope::trace {

// Everything but the items, which stay encoded until DecodeCpu. Its spans are the fields of
// CpuChunk.
struct CpuHeader {
  uint32_t thread = 0;
  uint32_t ring = 0;
  uint64_t first_slot = 0;
  uint64_t slots = 0;
  uint64_t base_ticks = 0;
  uint64_t last_ticks = 0;
  uint32_t count = 0;
  uint32_t task = 0;
  uint32_t events = 0;      // begins among the items, as the writer counted them
  uint32_t operations = 0;  // of these, begins of operations
  uint32_t automatic = 0;   // and automatic segments; the rest are native calls
  Span step, what, dictionary, duration, value;
  Span process_step, process_what, process_value, guessed, probe;
  Span payload;
};
bool ParseCpuHeader(const uint8_t* payload, size_t size, CpuHeader* header);

// The header's snapshot: what was open before the first item, in order of entering. Only needed
// where a stream begins in the middle; complete unless header.task == kUnknownTask.
bool DecodeOpen(const CpuHeader& header, std::vector<OpenOperation>* open);

struct ProcessItem {
  uint64_t ticks;
  uint64_t value;  // kProgress*: IEEE double
  uint32_t kind;
  uint32_t id;
};
bool AppendProcessItems(const CpuHeader& header, std::vector<ProcessItem>* items);

// Items of one chunk, in time order. The sparse columns hold one entry per item that has
// one, in the order of the items. Reused from chunk to chunk: nothing is freed.
struct CpuColumns {
  uint32_t count = 0;
  std::vector<uint64_t> ticks;  // start
  std::vector<uint32_t> what;
  std::vector<uint64_t> call_end;  // ticks; one per kCall
  std::vector<uint64_t> value;     // one per kind of two slots
  std::vector<uint64_t> probe;     // the clock's own ticks; one per kProbe and kProbeRecord
  uint32_t calls = 0;
  uint32_t values = 0;
  uint32_t probes = 0;
};
bool DecodeCpu(const CpuHeader& header, CpuColumns* columns);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_DECODER_H_
