#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace rlscope::base {
namespace {

// Check values of RFC 3720, appendix B.4.
TEST(Crc32c, PublishedValues) {
  EXPECT_EQ(Crc32c(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(Crc32c(0, std::string(32, '\0').data(), 32), 0x8a9136aau);
  EXPECT_EQ(Crc32c(0, std::string(32, '\xff').data(), 32), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(0, "", 0), 0u);
}

TEST(Crc32c, InstructionAndTableAgreeAtEveryLengthAndAlignment) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(300);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; size + begin < bytes.size(); size += 7) {
      EXPECT_EQ(Crc32c(5, &bytes[begin], size), Crc32cPortable(5, &bytes[begin], size));
    }
  }
}

TEST(Crc32c, GoesOnFromPieceToPiece) {
  const std::string text = "names, threads and clock pairs";
  const uint32_t first = Crc32c(0, text.data(), 11);
  EXPECT_EQ(Crc32c(first, text.data() + 11, text.size() - 11), Crc32c(0, text.data(), text.size()));
}

}  // namespace
}  // namespace rlscope::base
