#include "trace/drain/line_table.h"

#include <gtest/gtest.h>

namespace rlscope::trace {
namespace {

// An entry's first byte.
char Entry(uint32_t kind, uint32_t instructions) {
  return static_cast<char>(0x80 | kind << 3 | (instructions - 1));
}

uint32_t Line(const std::string& table, uint32_t instruction, uint32_t first_line = 100) {
  return FindLine(table.data(), table.size(), first_line, instruction);
}

TEST(LineTable, ShortEntriesStayOnTheLine) {
  const std::string table = {Entry(3, 2), 0x12, Entry(0, 1), 0x01};
  EXPECT_EQ(Line(table, 0), 100u);
  EXPECT_EQ(Line(table, 1), 100u);
  EXPECT_EQ(Line(table, 2), 100u);
  EXPECT_EQ(Line(table, 3), 0u);  // after the table
}

TEST(LineTable, OneLineEntriesGoOnByUpToTwoLines) {
  const std::string table = {Entry(10, 1), 0, 4, Entry(11, 1), 0, 4, Entry(12, 8), 0, 4};
  EXPECT_EQ(Line(table, 0), 100u);
  EXPECT_EQ(Line(table, 1), 101u);
  EXPECT_EQ(Line(table, 9), 103u);
}

TEST(LineTable, LinesGoBackAndFarAhead) {
  // Signed numbers have their sign in the lowest bit: 7 is -3, 0x42 0x02 is 2 + 2 * 64, so 65.
  const std::string table = {Entry(13, 1), 7, Entry(14, 2), 0x42, 0x02, 1, 1, 1};
  EXPECT_EQ(Line(table, 0), 97u);
  EXPECT_EQ(Line(table, 1), 162u);
  EXPECT_EQ(Line(table, 2), 162u);
}

TEST(LineTable, SomeInstructionsHaveNoLine) {
  const std::string table = {Entry(15, 1), Entry(13, 1), 2};
  EXPECT_EQ(Line(table, 0), 0u);
  EXPECT_EQ(Line(table, 1), 101u);
}

TEST(LineTable, ADamagedTableHasNoLines) {
  EXPECT_EQ(Line({Entry(10, 1), 0}, 0), 0u);
  EXPECT_EQ(Line({Entry(13, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f}, 0), 0u);
  EXPECT_EQ(Line({Entry(13, 1), 7}, 0, 2), 0u);  // line -1
  EXPECT_EQ(Line("", 0), 0u);
}

// Until 3.10: how many bytes of code, two an instruction, and how many lines on.
uint32_t LineInPairs(const std::string& table, uint32_t instruction, uint32_t first_line = 100) {
  return FindLineInPairs(table.data(), table.size(), first_line, instruction);
}

TEST(LineTable, PairsGoOnAndBack) {
  const std::string table = {4, 1, 2, char(-3), 2, 127, 0, 100, 4, 0};
  EXPECT_EQ(LineInPairs(table, 0), 101u);
  EXPECT_EQ(LineInPairs(table, 1), 101u);
  EXPECT_EQ(LineInPairs(table, 2), 98u);
  EXPECT_EQ(LineInPairs(table, 3), 225u);
  EXPECT_EQ(LineInPairs(table, 4), 325u);  // lines of a pair without code count, too
  EXPECT_EQ(LineInPairs(table, 5), 325u);
  EXPECT_EQ(LineInPairs(table, 6), 0u);  // after the table
}

TEST(LineTable, APairMayHaveNoLine) {
  const std::string table = {2, 5, 2, char(-128), char(254), 0};
  EXPECT_EQ(LineInPairs(table, 0), 105u);
  EXPECT_EQ(LineInPairs(table, 1), 0u);
  EXPECT_EQ(LineInPairs(table, 2), 105u);
  EXPECT_EQ(LineInPairs(table, 128), 105u);
}

TEST(LineTable, DamagedPairsHaveNoLines) {
  EXPECT_EQ(LineInPairs("", 0), 0u);
  EXPECT_EQ(LineInPairs({4}, 0), 0u);
  EXPECT_EQ(LineInPairs({2, char(-101)}, 0), 0u);  // line -1
  EXPECT_EQ(LineInPairs({2, 1}, UINT32_MAX), 0u);
}

}  // namespace
}  // namespace rlscope::trace
