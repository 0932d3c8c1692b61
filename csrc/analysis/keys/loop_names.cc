#include "analysis/keys/loop_names.h"

#include <algorithm>
#include <iterator>

namespace rlscope::analysis {
namespace {

constexpr std::string_view kWarmUp[] = {
    "import", "imports", "setup", "compilation", "compile", "warmup",
};
constexpr std::string_view kElseAroundLoop[] = {
    "loading",  "load", "saving",     "save",     "checkpoint", "closing", "evaluation",
    "evaluate", "eval", "validation", "validate", "rendering",  "render",
};

template <class Names>
bool Holds(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::string PlainName(std::string_view name) {
  std::string lower(name.substr(0, name.find(':')));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool IsAroundLoop(std::string_view name) { return IsWarmUp(name) || Holds(kElseAroundLoop, name); }

bool IsWarmUp(std::string_view name) { return Holds(kWarmUp, name); }

bool IsLearning(std::string_view name) { return name != "forward" && Holds(kLearningNames, name); }

}  // namespace rlscope::analysis
