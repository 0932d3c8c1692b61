#include "core/durations.h"

#include <fnmatch.h>

#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "core/knobs.h"

namespace simcuda {
namespace {

struct Line {
  std::string pattern;
  std::vector<uint64_t> durations_ns;
  size_t next = 0;

  bool Matches(const std::string& name) const {
    return pattern == "default" || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  }
};

// "policy_* 10us 12us": a pattern and one or more durations; nothing after a #.
bool ParseLine(const std::string& text, Line* line) {
  std::istringstream words(text.substr(0, text.find('#')));
  if (!(words >> line->pattern)) return false;
  std::string word;
  while (words >> word) {
    int64_t duration_ns = 0;
    if (!ParseDuration(word, &duration_ns))
      RefuseKnob("SIMCUDA_DURATIONS", text, "PATTERN DURATION...");
    line->durations_ns.push_back(static_cast<uint64_t>(duration_ns));
  }
  if (line->durations_ns.empty()) RefuseKnob("SIMCUDA_DURATIONS", text, "PATTERN DURATION...");
  return true;
}

std::vector<Line>* ReadScript(const std::string& path) {
  auto* lines = new std::vector<Line>;
  if (path.empty()) return lines;
  std::ifstream file(path);
  if (!file) RefuseKnob("SIMCUDA_DURATIONS", path, "a readable file");
  std::string text;
  while (std::getline(file, text)) {
    Line line;
    if (ParseLine(text, &line)) lines->push_back(line);
  }
  return lines;
}

}  // namespace

uint64_t NextDuration(const std::string& mangled, const std::string& plain) {
  static std::mutex& lock = *new std::mutex;
  static std::vector<Line>* const lines = ReadScript(GetKnobs().durations_path);
  std::lock_guard<std::mutex> guard(lock);
  for (Line& line : *lines) {
    if (line.Matches(mangled) || line.Matches(plain)) {
      return line.durations_ns[line.next++ % line.durations_ns.size()];
    }
  }
  return GetKnobs().kernel_ns;
}

}  // namespace simcuda
