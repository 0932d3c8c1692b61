// What libFuzzer and the replays share: reads bytes as a trace file and as a log of processes, or a
// whole trace directory, in every way there is, and aborts when a promise of the reader is broken.
#ifndef RLSCOPE_TESTS_FUZZ_READ_EVERYTHING_H_
#define RLSCOPE_TESTS_FUZZ_READ_EVERYTHING_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/directory/directory.h"

namespace rlscope::trace {

void ReadEverything(const uint8_t* data, size_t size);

// Reads processes to the end.
void CheckImages(const std::vector<ProcessImage>& images);

// Makes everything of them that `rlscope summary` makes.
void AnalyzeImages(const std::vector<ProcessImage>& images);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_FUZZ_READ_EVERYTHING_H_
