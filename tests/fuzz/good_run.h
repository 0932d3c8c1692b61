// The directory of a run that was killed, as its processes and their drainer leave it: rings of
// every use, a further arena, a control page, a log. For the replay to damage.
#ifndef RLSCOPE_TESTS_FUZZ_GOOD_RUN_H_
#define RLSCOPE_TESTS_FUZZ_GOOD_RUN_H_

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

namespace rlscope::trace {

// Bytes by path below the trace directory. Always the same ones.
using FolderFiles = std::map<std::string, std::vector<uint8_t>>;
FolderFiles GoodRun();

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_FUZZ_GOOD_RUN_H_
