#include "base/crc32c.h"

#include <string.h>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace rlscope::base {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bit-reversed

struct Table {
  uint32_t entries[256];
};

constexpr Table MakeTable() {
  Table table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    table.entries[byte] = crc;
  }
  return table;
}

constexpr Table kTable = MakeTable();

#if defined(__SSE4_2__)
inline uint64_t Step8(uint64_t crc, uint64_t word) { return _mm_crc32_u64(crc, word); }
inline uint32_t Step1(uint32_t crc, uint8_t byte) { return _mm_crc32_u8(crc, byte); }
#elif defined(__ARM_FEATURE_CRC32)
inline uint64_t Step8(uint64_t crc, uint64_t word) {
  return __crc32cd(static_cast<uint32_t>(crc), word);
}
inline uint32_t Step1(uint32_t crc, uint8_t byte) { return __crc32cb(crc, byte); }
#endif

}  // namespace

uint32_t Crc32cPortable(uint32_t crc, const void* data, size_t size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) crc = crc >> 8 ^ kTable.entries[(crc ^ bytes[i]) & 255];
  return ~crc;
}

#if defined(__SSE4_2__) || defined(__ARM_FEATURE_CRC32)
uint32_t Crc32c(uint32_t crc, const void* data, size_t size) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  uint64_t state = ~crc;
  for (; size >= 8; bytes += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    state = Step8(state, word);
  }
  uint32_t rest = static_cast<uint32_t>(state);
  for (; size > 0; ++bytes, --size) rest = Step1(rest, *bytes);
  return ~rest;
}
#else
uint32_t Crc32c(uint32_t crc, const void* data, size_t size) {
  return Crc32cPortable(crc, data, size);
}
#endif

}  // namespace rlscope::base
