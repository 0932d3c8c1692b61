// Decimal text -> integers, without floating point: a double holds 1.7e15 microseconds to a quarter
// of one only.
#ifndef RLSCOPE_IMPORTERS_DECIMAL_H_
#define RLSCOPE_IMPORTERS_DECIMAL_H_

#include <stdint.h>

#include <string_view>

namespace rlscope::importers {

// The number of a JSON text times 10^scale, to the nearest integer, halves away from zero. False:
// it is no number (NaN, Infinity), has more digits than any measured one, or does not fit.
bool ParseDecimal(std::string_view text, int scale, int64_t* value);

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_DECIMAL_H_
