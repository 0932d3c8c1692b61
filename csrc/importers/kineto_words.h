// What the names of Kineto's events say.
#ifndef RLSCOPE_IMPORTERS_KINETO_WORDS_H_
#define RLSCOPE_IMPORTERS_KINETO_WORDS_H_

#include <stdint.h>

#include <string_view>

namespace rlscope::importers {

// "train.py(12): step", "nn.Module: Linear_0"; what is neither is a function of C, which Python's
// frames call: "<built-in method sqrt of ...>".
bool IsPythonFrame(std::string_view name);
// "Memset (Device)": CUPTI's number of the kind of memory.
uint32_t HowOfMemset(std::string_view name);
// "Memcpy HtoD (Pageable -> Device)": the direction, and the host's memory or the source's.
uint32_t HowOfCopy(std::string_view name);
// "Stream Sync": CUPTI's number of what a synchronisation is.
uint32_t HowOfSync(std::string_view kind);

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_KINETO_WORDS_H_
