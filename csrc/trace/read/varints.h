// Decodes a packed column of varints, the reader's innermost loop.
#ifndef RLSCOPE_TRACE_READ_VARINTS_H_
#define RLSCOPE_TRACE_READ_VARINTS_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/read/span.h"

namespace rlscope::trace {

// Values of the column -> out[0 .. capacity). The number of values, or SIZE_MAX when the column
// ends inside a varint, holds one longer than ten bytes, or holds more than `capacity`. Values of
// a uint32_t column that are larger keep their low 32 bits.
size_t DecodeVarints(Span column, uint64_t* out, size_t capacity);
size_t DecodeVarints(Span column, uint32_t* out, size_t capacity);

// The number of values, without decoding them: it counts the bytes that end one. SIZE_MAX when the
// column ends inside a varint.
size_t CountVarints(Span column);

// The form for CPUs without BMI2; for tests.
size_t DecodeVarintsPortable(Span column, uint64_t* out, size_t capacity);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_VARINTS_H_
