// The table of lines of a code object. Threads: any. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_LINE_TABLE_H_
#define RLSCOPE_TRACE_DRAIN_LINE_TABLE_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::trace {

// The line of an instruction, by its place in the code; 0: it has none, or the table is damaged. As
// CPython writes the table since 3.11 (Objects/locations.md of its source).
uint32_t FindLine(const char* table, size_t bytes, uint32_t first_line, uint32_t instruction);

// The same as CPython 3.10 writes it: pairs of bytes (PEP 626).
uint32_t FindLineInPairs(const char* table, size_t bytes, uint32_t first_line,
                         uint32_t instruction);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_LINE_TABLE_H_
