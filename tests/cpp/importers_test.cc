// The parts that importers have in common: decimal numbers, JSON, sorted runs.
#include <gtest/gtest.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "importers/byte_source.h"
#include "importers/decimal.h"
#include "importers/json_reader.h"
#include "importers/row_sorter.h"
#include "importers/rows.h"
#include "importers/spill_file.h"

namespace rlscope::importers {
namespace {

// One byte at a time: every token lies across the ends of buffers.
class Bytes : public ByteSource {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}
  size_t Read(char* into, size_t) override {
    if (text_.empty()) return 0;
    *into = text_.front();
    text_.remove_prefix(1);
    return 1;
  }

 private:
  std::string_view text_;
};

constexpr int64_t kNoNumber = INT64_MIN;

int64_t Decimal(std::string_view text, int scale) {
  int64_t value;
  return ParseDecimal(text, scale, &value) ? value : kNoNumber;
}

std::string String(std::string_view json) {
  Bytes bytes(json);
  JsonReader reader(&bytes);
  EXPECT_TRUE(reader.ReadString());
  return std::string(reader.text());
}

TEST(ImportersTest, DecimalTextBecomesNanosecondsExactly) {
  EXPECT_EQ(Decimal("1712195495505543.201", 3), 1712195495505543201);
  EXPECT_EQ(Decimal("0.001", 3), 1);
  EXPECT_EQ(Decimal("0.0004999", 3), 0);
  EXPECT_EQ(Decimal("0.0005", 3), 1);
  EXPECT_EQ(Decimal("-0.0005", 3), -1);
  EXPECT_EQ(Decimal("9.9996", 3), 10000);
  EXPECT_EQ(Decimal("1.5e3", 3), 1500000);
  EXPECT_EQ(Decimal("15000E-4", 3), 1500);
  EXPECT_EQ(Decimal("-0", 3), 0);
  EXPECT_EQ(Decimal("000012", 0), 12);
  EXPECT_EQ(Decimal("1e-400", 3), 0);
}

TEST(ImportersTest, DecimalTextThatDoesNotFitIsNoNumber) {
  EXPECT_EQ(Decimal("9223372036854775807", 0), INT64_MAX);
  for (const char* text : {"9223372036854775808", "9223372036854775807.5", "1e19", "1e999999999999",
                           "NaN", "Infinity", "-", "", ".", "1.2.3", "1e", "0x10", "1 "}) {
    EXPECT_EQ(Decimal(text, 0), kNoNumber) << text;
  }
  EXPECT_EQ(Decimal(std::string(1000, '1'), 0), kNoNumber);
  EXPECT_EQ(Decimal("0." + std::string(399, '0') + "1", 3), 0);
}

TEST(ImportersTest, StringsAreUtf8WithoutEscapes) {
  EXPECT_EQ(String(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(String(R"("\u00e9\u20AC\ud83d\ude00")"), "\u00e9\u20ac\U0001f600");
  EXPECT_EQ(String(R"("\ud800x\udc00\ud800\u0041\ud800\n")"), "\ufffdx\ufffd\ufffdA\ufffd\n");
  EXPECT_EQ(String("\"" + std::string(100000, 'a') + "\"").size(), JsonReader::kMostText);
}

TEST(ImportersTest, WhatIsSkippedIsReadToItsEnd) {
  Bytes bytes(R"({"a": {"b": [1, "]}\"", {"c": null}], "d": -1.5e3}, "e": NaN, "f": 7})");
  JsonReader reader(&bytes);
  reader.BeginObject();
  std::string keys;
  while (reader.NextKey()) {
    keys += reader.text();
    if (reader.text() == "f") {
      EXPECT_TRUE(reader.ReadNumber());
      EXPECT_EQ(reader.text(), "7");
    } else {
      EXPECT_FALSE(reader.ReadNumber());
    }
  }
  reader.ExpectEnd();
  EXPECT_EQ(keys, "aef");
}

TEST(ImportersTest, WhatIsNoJsonIsSaidWithItsPlace) {
  const auto reason = [](std::string_view text) -> std::string {
    Bytes bytes(text);
    JsonReader reader(&bytes);
    try {
      reader.BeginObject();
      while (reader.NextKey()) reader.SkipValue();
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(reason(R"({"a": 1})"), "");
  EXPECT_EQ(reason(R"({"a": 1)"), "invalid JSON at byte 7: the file ends too early");
  EXPECT_EQ(reason(R"({"a": [1}})"),
            "invalid JSON at byte 9: this bracket closes one of the other kind");
  EXPECT_EQ(reason(R"({"a" 1})"), "invalid JSON at byte 5: a colon after a key is missing");
  EXPECT_EQ(reason(R"({1: 1})"), "invalid JSON at byte 1: a key is missing");
  EXPECT_EQ(reason(R"({"a": 1 "b": 2})"),
            "invalid JSON at byte 8: a comma between two values is missing");
}

TEST(ImportersTest, RowsOfManyRunsComeBackInOrder) {
  SpillFile file;
  RowSorter<GpuRow> sorter(&file, 100 * sizeof(GpuRow));
  std::minstd_rand random(7);
  std::vector<GpuRow> expected;
  for (uint64_t i = 0; i < 12345; ++i) {
    GpuRow row = {};
    row.stream = random() % 3;
    row.start_ns = random() % 1000;
    row.number = i;
    expected.push_back(row);
    sorter.Add(row);
  }
  sorter.Finish();
  EXPECT_EQ(sorter.runs().size(), 124);
  std::sort(expected.begin(), expected.end());
  RowMerge<GpuRow> merge(file, sorter.runs());
  GpuRow row;
  for (const GpuRow& wanted : expected) {
    ASSERT_TRUE(merge.Next(&row));
    ASSERT_EQ(row.number, wanted.number);
    ASSERT_EQ(row.start_ns, wanted.start_ns);
  }
  EXPECT_FALSE(merge.Next(&row));
}

TEST(ImportersTest, NoRowsAreNoRuns) {
  SpillFile file;
  RowSorter<ThreadRow> sorter(&file);
  sorter.Finish();
  RowMerge<ThreadRow> merge(file, sorter.runs());
  ThreadRow row;
  EXPECT_FALSE(merge.Next(&row));
}

}  // namespace
}  // namespace rlscope::importers
