#include "python/runtime_module/evaluating_functions.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "python/runtime_module/frames.h"

namespace rlscope::python {

namespace {

constexpr int kMostFunctions = 32;
constexpr int kMostFrames = 256;
constexpr int kFramesOfPlace =
    4;  // what trains and what evaluates may call one function that steps

TellingFunctions<kMostFunctions> functions;

constexpr std::string_view kWords[] = {
    "eval",        "evals", "evaluate",   "evaluates", "evaluating", "evaluator", "evaluation",
    "evaluations", "test",  "tests",      "testing",   "tester",     "validate",  "validates",
    "validation",  "arena", "tournament", "benchmark", "exam"};
// Whether a word of the name is one of them.
bool SaysEvaluation(std::string_view name) {
  bool says = false;
  VisitWords(name, [&](std::string_view word) {
    says = std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
    return !says;
  });
  return says;
}

bool MayEvaluate(PyObject* code) {
  return PyCode_Check(code) && SaysEvaluation(NameWithClass(reinterpret_cast<PyCodeObject*>(code)));
}

}  // namespace

TellingFunction* FindEvaluatingFunction() {
  PyObject* codes[kMostFrames];
  for (int left = rlscope_codes_of_thread(codes, kMostFrames); left > 0; left--) {
    PyObject* const code = codes[left - 1];
    if (MayEvaluate(code) && !functions.IsRejected(code)) return functions.Find(code);
  }
  return nullptr;
}

bool ActsElsewhere::IsElsewhere() {
  --looks_;
  return FindEvaluatingFunction() == nullptr;
}

uint64_t PlaceOfThread() {
  PyObject* codes[kFramesOfPlace];
  const int count = rlscope_codes_of_thread(codes, kFramesOfPlace);
  uint64_t place = static_cast<uint64_t>(count);
  for (int number = 0; number < count; number++) {
    place = place * 0x9e3779b97f4a7c15u + reinterpret_cast<uintptr_t>(codes[number]);
  }
  return place;
}

}  // namespace rlscope::python
