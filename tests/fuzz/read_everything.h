// The entry point that libFuzzer and the replay share: reads bytes as a trace file, and as a log
// of processes, in every way there is, and aborts when a promise of the reader is broken.
#ifndef RLSCOPE_TESTS_FUZZ_READ_EVERYTHING_H_
#define RLSCOPE_TESTS_FUZZ_READ_EVERYTHING_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::trace {

void ReadEverything(const uint8_t* data, size_t size);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_FUZZ_READ_EVERYTHING_H_
