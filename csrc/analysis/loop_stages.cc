#include "analysis/loop_stages.h"

#include <algorithm>
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

void LoopStages::Outside::Carry(trace::Archive* archive) {
  for (int64_t& ns : duration_ns) archive->Sum(&ns);
  for (uint64_t& stretches : count) archive->Number(&stretches);
}

void LoopStages::Carry(trace::Archive* archive, const RowLimits& limits) {
  archive->Number(&begun_);
  archive->Number(&in_loop_);
  archive->Number(&follows_);
  archive->Time(&entered_ns_);
  CarryRows(archive, limits, &before_);
  CarryRows(archive, limits, &rest_);
  left_.Carry(archive);
}

}  // namespace rlscope::analysis
