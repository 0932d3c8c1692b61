#include "analysis/keys/loop_names.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace rlscope::analysis {
namespace {

constexpr std::string_view kAroundLoop[] = {
    "import",   "imports", "setup",      "compilation", "compile",    "warmup",
    "loading",  "load",    "saving",     "save",        "checkpoint", "evaluation",
    "evaluate", "eval",    "validation", "validate",
};

}  // namespace

bool IsAroundLoop(std::string_view name) {
  std::string lower(name.substr(0, name.find(':')));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(std::begin(kAroundLoop), std::end(kAroundLoop), lower) != std::end(kAroundLoop);
}

}  // namespace rlscope::analysis
