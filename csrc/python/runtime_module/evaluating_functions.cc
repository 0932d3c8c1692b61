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

EvaluatingFunction functions[kMostFunctions];
int function_count = 0;

constexpr std::string_view kWords[] = {
    "eval",        "evals", "evaluate",   "evaluates", "evaluating", "evaluator", "evaluation",
    "evaluations", "test",  "tests",      "testing",   "tester",     "validate",  "validates",
    "validation",  "arena", "tournament", "benchmark", "exam"};
constexpr size_t kLongestWord = 11;

bool IsWord(std::string_view text) {
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords);
}

constexpr bool IsSmall(char letter) { return letter >= 'a' && letter <= 'z'; }
constexpr bool IsCapital(char letter) { return letter >= 'A' && letter <= 'Z'; }

// The name of a function, after that of its class where CPython keeps it: from 3.11 on.
std::string_view NameOf(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  PyObject* const full = code->co_qualname;
#else
  PyObject* const full = code->co_name;
#endif
  if (!PyUnicode_IS_ASCII(full)) return {};
  const std::string_view name(reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(full)),
                              static_cast<size_t>(PyUnicode_GET_LENGTH(full)));
  const size_t last = name.rfind('.');
  if (last == name.npos) return name;
  const size_t before = last == 0 ? name.npos : name.rfind('.', last - 1);
  const std::string_view owner = name.substr(before + 1, last - before - 1);
  return name.substr(owner == "<locals>" ? last + 1 : before + 1);
}

// Whether a word of the name is one of them. A capital after a small letter begins one.
bool SaysEvaluation(std::string_view name) {
  char word[kLongestWord + 1];
  size_t length = 0;
  char before = 0;
  for (const char letter : name) {
    const bool is_letter = IsSmall(letter) || IsCapital(letter);
    if (!is_letter || (IsCapital(letter) && IsSmall(before))) {
      if (IsWord({word, length})) return true;
      length = 0;
    }
    if (is_letter && length < sizeof word) word[length++] = static_cast<char>(letter | 0x20);
    before = letter;
  }
  return IsWord({word, length});
}

bool MayEvaluate(PyObject* code) {
  return PyCode_Check(code) && SaysEvaluation(NameOf(reinterpret_cast<PyCodeObject*>(code)));
}

}  // namespace

bool EvaluatingFunction::IsRunning() const {
  PyObject* codes[kMostFrames];
  PyObject** const end = codes + rlscope_codes_of_thread(codes, kMostFrames);
  return std::find(codes, end, code_) != end;
}

EvaluatingFunction* FindEvaluatingFunction() {
  PyObject* codes[kMostFrames];
  for (int left = rlscope_codes_of_thread(codes, kMostFrames); left > 0; left--) {
    PyObject* const code = codes[left - 1];
    if (!MayEvaluate(code)) continue;
    EvaluatingFunction* const end = functions + function_count;
    EvaluatingFunction* const found = std::find_if(
        functions, end, [&](const EvaluatingFunction& each) { return each.code_ == code; });
    if (found == end && function_count == kMostFunctions) return nullptr;
    if (found != end && found->is_rejected_) continue;
    if (found == end) {
      found->code_ = Py_NewRef(code);
      ++function_count;
    }
    return found;
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
