#include "importers/kineto_words.h"

#include <stddef.h>

#include <algorithm>
#include <iterator>

namespace rlscope::importers {
namespace {

// The kinds of memory that Kineto names, by CUPTI's numbers.
struct MemoryWord {
  std::string_view word;
  uint32_t number;
};
constexpr MemoryWord kMemories[] = {{"Pageable", 1},      {"Pinned", 2},  {"Device", 3},
                                    {"Array", 4},         {"Managed", 5}, {"Device Static", 6},
                                    {"Managed Static", 7}};

constexpr std::string_view kDirections[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                            "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

uint32_t DirectionOf(std::string_view word) {
  const auto found = std::find(std::begin(kDirections) + 1, std::end(kDirections), word);
  return found == std::end(kDirections) ? 0
                                        : static_cast<uint32_t>(found - std::begin(kDirections));
}

// What stands in the parentheses of a name.
std::string_view InParentheses(std::string_view name) {
  const size_t begin = name.find('('), end = name.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return name.substr(begin + 1, end - begin - 1);
}

uint32_t MemoryOf(std::string_view word) {
  for (const MemoryWord& row : kMemories) {
    if (row.word == word) return row.number;
  }
  return 0;
}

}  // namespace

bool IsPythonFrame(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  return name.find("): ") != std::string_view::npos || name.substr(0, kModule.size()) == kModule;
}

uint32_t HowOfMemset(std::string_view name) { return MemoryOf(InParentheses(name)); }

uint32_t HowOfCopy(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ", kArrow = " -> ";
  if (name.substr(0, kPrefix.size()) != kPrefix) return 0;
  const uint32_t direction = DirectionOf(name.substr(kPrefix.size(), 4));
  const std::string_view memories = InParentheses(name);
  const size_t arrow = memories.find(kArrow);
  if (arrow == std::string_view::npos) return direction;
  const bool to_host = direction == DirectionOf("DtoH") || direction == DirectionOf("AtoH");
  const std::string_view memory =
      to_host ? memories.substr(arrow + kArrow.size()) : memories.substr(0, arrow);
  return direction | MemoryOf(memory) << 4;
}

uint32_t HowOfSync(std::string_view kind) {
  if (kind == "Event Sync") return 1;
  if (kind == "Stream Wait Event") return 2;
  if (kind == "Stream Sync") return 3;
  if (kind == "Context Sync" || kind == "Device Sync") return 4;
  return 0;
}

}  // namespace rlscope::importers
