#include "python/runtime_module/reward_functions.h"

#include <algorithm>
#include <iterator>

#include "python/runtime_module/frames.h"

namespace rlscope::python {

namespace {

constexpr int kMostFunctions = 32;
constexpr int kFrames = 3;  // a network is called by such a function, or by a helper of it

TellingFunctions<kMostFunctions> functions;

constexpr std::string_view kRewards[] = {"reward", "rewards", "bonus", "novelty", "curiosity"};
// What may stand after them.
constexpr std::string_view kEnds[] = {"fn", "func", "function", "model"};
// What has steps of its own, or only adds up what others gave.
constexpr std::string_view kOthers[] = {"average", "collect",  "cumulative", "episode", "eval",
                                        "mean",    "rollout",  "run",        "sum",     "test",
                                        "total",   "evaluate", "train",      "with"};

template <size_t kCount>
bool Has(const std::string_view (&words)[kCount], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool SaysReward(std::string_view name) {
  bool says = false;
  VisitWords(name, [&](std::string_view word) {
    says = Has(kRewards, word) || (says && Has(kEnds, word));
    return !Has(kOthers, word) || (says = false);
  });
  return says;
}

}  // namespace

TellingFunction* FindRewardFunction() {
  PyObject* codes[kFrames];
  const int count = rlscope_codes_of_thread(codes, kFrames);
  for (int number = 0; number < count; number++) {
    PyObject* const code = codes[number];
    if (!PyCode_Check(code)) continue;
    if (SaysReward(NameOfFunction(reinterpret_cast<PyCodeObject*>(code)))) {
      return functions.Find(code);
    }
  }
  return nullptr;
}

}  // namespace rlscope::python
