#include "base/wire.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/utf8.h"

namespace rlscope::base {
namespace {

const uint64_t kValues[] = {
    0, 1, 127, 128, 16383, 16384, 1u << 21, UINT32_MAX, UINT64_MAX >> 1, UINT64_MAX};

TEST(Varint, RoundTripsAndTakesTheFewestBytes) {
  for (const uint64_t value : kValues) {
    uint8_t bytes[kMaxVarintBytes];
    uint8_t* const end = PutVarint(bytes, value);
    const size_t bits = value == 0 ? 1 : 64 - static_cast<size_t>(__builtin_clzll(value));
    EXPECT_EQ(static_cast<size_t>(end - bytes), (bits + 6) / 7);
    uint64_t read;
    EXPECT_EQ(GetVarint(bytes, end, &read), end);
    EXPECT_EQ(read, value);
    EXPECT_EQ(GetVarint(bytes, end - 1, &read), nullptr) << "cut off";
  }
}

TEST(Varint, MoreThanTenBytesAreRefused) {
  const std::vector<uint8_t> bytes(11, 0x80);
  uint64_t value;
  EXPECT_EQ(GetVarint(bytes.data(), bytes.data() + bytes.size(), &value), nullptr);
}

TEST(ZigZag, SmallMagnitudesGiveSmallNumbers) {
  EXPECT_EQ(ZigZag(0), 0u);
  EXPECT_EQ(ZigZag(-1), 1u);
  EXPECT_EQ(ZigZag(1), 2u);
  for (const int64_t value : {INT64_MIN, INT64_MAX, INT64_C(-5), INT64_C(5)}) {
    EXPECT_EQ(UnZigZag(ZigZag(value)), value);
  }
}

TEST(WireReader, WalksFieldsOfEveryType) {
  uint8_t bytes[64];
  uint8_t* end = PutVarintField(bytes, 1, 300);
  end = PutFixed64Field(end, 2, 0x1122334455667788);
  end = PutBytesField(end, 200, "abc", 3);
  end = PutVarintField(end, 4, 0);  // a zero is not written
  WireReader reader(bytes, static_cast<size_t>(end - bytes));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.value(), 300u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.value(), 0x1122334455667788u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 200u);
  EXPECT_TRUE(reader.is_bytes());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(reader.data()), reader.size()), "abc");
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, StopsAtEveryMalformedByte) {
  const std::vector<std::vector<uint8_t>> malformed = {
      {0x08},           // a varint field without its varint
      {0x09, 1, 2, 3},  // a fixed64 cut off
      {0x0a, 5, 'a'},   // bytes cut off
      {0x0b},           // a group
      {0x00, 1},        // field number 0
      {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},  // length of 2^64
  };
  for (const auto& bytes : malformed) {
    WireReader reader(bytes.data(), bytes.size());
    EXPECT_FALSE(reader.Next());
    EXPECT_FALSE(reader.ok());
    EXPECT_FALSE(reader.Next()) << "and stays there";
  }
}

std::string Cleaned(std::string text) {
  ReplaceInvalidUtf8(reinterpret_cast<uint8_t*>(&text[0]), text.size());
  return text;
}

TEST(Utf8, KeepsWhatIsValidAndReplacesTheRest) {
  for (const char* valid : {"", "abc", "über", "模型", "🙂", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"}) {
    EXPECT_EQ(Cleaned(valid), valid);
  }
  EXPECT_EQ(Cleaned("a\xff z"), "a? z");
  EXPECT_EQ(Cleaned("\xc3"), "?");
  EXPECT_EQ(Cleaned("\xc0\x80"), "??") << "overlong";
  EXPECT_EQ(Cleaned("\xed\xa0\x80"), "???") << "surrogate";
  EXPECT_EQ(Cleaned("\xf4\x90\x80\x80"), "????") << "above U+10FFFF";
  EXPECT_EQ(Cleaned("\xe2\x82x"), "??x");
}

}  // namespace
}  // namespace rlscope::base
