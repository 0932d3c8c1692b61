// Trace files as a recorder writes them, of every chunk kind, for the replay to damage.
#ifndef RLSCOPE_TESTS_FUZZ_GOOD_FILES_H_
#define RLSCOPE_TESTS_FUZZ_GOOD_FILES_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

namespace rlscope::trace {

// Name and bytes; always the same ones.
std::vector<std::pair<std::string, std::vector<uint8_t>>> GoodFiles();

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_FUZZ_GOOD_FILES_H_
