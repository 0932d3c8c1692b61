// Columns of varints of every mixture of lengths, against decoding them one by one.
#include "trace/read/varints.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/wire.h"

namespace rlscope::trace {
namespace {

// Each has `bits` bits; one in `rare` has up to 64.
std::vector<uint64_t> MakeValues(size_t count, int bits, uint64_t rare, std::mt19937_64* random) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < count; ++i) {
    const bool is_rare = rare > 0 && (*random)() % rare == 0;
    const int shift = is_rare ? static_cast<int>((*random)() % 64) : 64 - bits;
    values.push_back((*random)() >> shift | uint64_t{1} << (is_rare ? 0 : bits - 1));
  }
  return values;
}

std::vector<uint8_t> Encode(const std::vector<uint64_t>& values) {
  std::vector<uint8_t> bytes(10 * values.size());
  uint8_t* end = bytes.data();
  for (uint64_t value : values) end = base::PutVarint(end, value);
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  return bytes;
}

TEST(VarintsTest, EveryMixtureOfLengths) {
  std::mt19937_64 random(3);
  for (int bits = 1; bits <= 22; ++bits) {
    for (uint64_t rare : {0, 3, 40, 400}) {
      const auto values = MakeValues(random() % 1000, bits, rare, &random);
      const auto bytes = Encode(values);
      const Span column = {bytes.data(), bytes.size()};
      std::vector<uint64_t> found(values.size()), portable(values.size());
      std::vector<uint32_t> low(values.size());
      ASSERT_EQ(DecodeVarints(column, found.data(), found.size()), values.size());
      EXPECT_EQ(found, values);
      ASSERT_EQ(DecodeVarintsPortable(column, portable.data(), portable.size()), values.size());
      EXPECT_EQ(portable, values);
      ASSERT_EQ(DecodeVarints(column, low.data(), low.size()), values.size());
      EXPECT_EQ(low, std::vector<uint32_t>(values.begin(), values.end()));
      EXPECT_EQ(CountVarints(column), values.size());
      if (values.empty()) continue;
      EXPECT_EQ(DecodeVarints(column, found.data(), found.size() - 1), SIZE_MAX);
    }
  }
}

}  // namespace
}  // namespace rlscope::trace
