#include "analysis/threads/poll_series.h"

#include <set>
#include <string_view>

#include "trace/layout/layer.h"

namespace rlscope::analysis {
namespace {

// "pipe 4711|posix.read"
struct WaitText {
  explicit WaitText(std::string_view text)
      : kind(text.substr(0, text.find_first_of(" |"))),
        function(text.substr(text.find('|') == text.npos ? text.size() : text.find('|'))) {}

  bool timed_out() const { return kind == "sleep"; }

  std::string_view kind;
  std::string_view function;
};

}  // namespace

PollNames::PollNames(const std::vector<trace::Name>& names) {
  std::set<std::string_view> returning;  // functions that came back with what they waited for
  std::unordered_map<std::string_view, uint32_t> numbers;
  const auto is_wait = [](const trace::Name& name) {
    return name.layer == static_cast<uint32_t>(trace::Layer::kWait);
  };
  for (const trace::Name& name : names) {
    const WaitText text(name.text);
    if (is_wait(name) && !text.timed_out()) returning.insert(text.function);
  }
  for (const trace::Name& name : names) {
    if (!is_wait(name)) continue;
    const WaitText text(name.text);
    const auto number = static_cast<uint32_t>(numbers.size());
    const uint32_t function = numbers.emplace(text.function, number).first->second;
    const bool timed_out = text.timed_out() && returning.count(text.function) > 0;
    polls_[name.id] = {function, timed_out, text.kind == "gil"};
  }
}

bool PollNames::IsPassedOver(const NativeCall& wait, const NativeCall* turn) const {
  if (IsKnown(wait) && Of(wait).of_gil) return true;
  return turn != nullptr && !IsTurn(wait) && wait.duration_ns <= turn->duration_ns / kShorts;
}

bool PollNames::GoesOn(const NativeCall& turn, const NativeCall& wait) const {
  if (!IsKnown(wait) || Of(turn).function != Of(wait).function || turn.path != wait.path) {
    return false;
  }
  return wait.start_ns - turn.end_ns() <= turn.duration_ns / kPauses;
}

}  // namespace rlscope::analysis
