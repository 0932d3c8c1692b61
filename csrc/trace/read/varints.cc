// A varint ends at a byte whose highest bit is clear. Finding the ends first, 64 bytes at a time
// as a bit mask, takes the lengths off the critical path: the next start depends on one bit scan
// and not on a load and four compares, and mixed lengths cost no mispredicted branches.
#include "trace/read/varints.h"

#include <string.h>

#include "base/wire.h"

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

namespace rlscope::trace {
namespace {

constexpr size_t kBlock = 64;

#if defined(__SSE4_1__)
uint64_t EndsIn16(const uint8_t* bytes) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return static_cast<uint32_t>(_mm_movemask_epi8(block)) ^ 0xffffu;
}

// Bit i: bytes[i] is the last byte of a varint.
uint64_t EndsIn64(const uint8_t* bytes) {
  return EndsIn16(bytes) | EndsIn16(bytes + 16) << 16 | EndsIn16(bytes + 32) << 32 |
         EndsIn16(bytes + 48) << 48;
}
#else
uint64_t EndsIn64(const uint8_t* bytes) {
  uint64_t ends = 0;
  for (size_t i = 0; i < kBlock; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    // Gathers the eight highest bits into one byte.
    const uint64_t high = ~word & UINT64_C(0x8080808080808080);
    ends |= (high >> 7) * UINT64_C(0x0102040810204080) >> 56 << i;
  }
  return ends;
}
#endif

// Times of a busy thread take two bytes, names and kinds one: columns of one length are the rule,
// and their blocks are read without looking at each value (a sixth of the instructions).
constexpr uint64_t kEveryByte = ~uint64_t{0};
constexpr uint64_t kEverySecondByte = 0xaaaaaaaaaaaaaaaa;

#if defined(__SSE4_1__)
// Eight words to values.
inline void Widen(__m128i words, uint64_t* out) {
  __m128i* const to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, _mm_cvtepu16_epi64(words));
  _mm_storeu_si128(to + 1, _mm_cvtepu16_epi64(_mm_srli_si128(words, 4)));
  _mm_storeu_si128(to + 2, _mm_cvtepu16_epi64(_mm_srli_si128(words, 8)));
  _mm_storeu_si128(to + 3, _mm_cvtepu16_epi64(_mm_srli_si128(words, 12)));
}
inline void Widen(__m128i words, uint32_t* out) {
  __m128i* const to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, _mm_cvtepu16_epi32(words));
  _mm_storeu_si128(to + 1, _mm_cvtepu16_epi32(_mm_srli_si128(words, 8)));
}

template <typename Value>
void ReadTwoByteBlock(const uint8_t* bytes, Value* out) {
  for (size_t i = 0; i < kBlock; i += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const __m128i low = _mm_and_si128(block, _mm_set1_epi16(0x7f));
    const __m128i high = _mm_and_si128(_mm_srli_epi16(block, 1), _mm_set1_epi16(0x3f80));
    Widen(_mm_or_si128(low, high), out + i / 2);
  }
}

template <typename Value>
void ReadOneByteBlock(const uint8_t* bytes, Value* out) {
  for (size_t i = 0; i < kBlock; i += 8) {
    const __m128i block = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i));
    Widen(_mm_cvtepu8_epi16(block), out + i);
  }
}
#else
template <typename Value>
void ReadTwoByteBlock(const uint8_t* bytes, Value* out) {
  for (size_t i = 0; i < kBlock; i += 2) {
    out[i / 2] = static_cast<Value>((bytes[i] & 0x7f) | bytes[i + 1] << 7);
  }
}
template <typename Value>
void ReadOneByteBlock(const uint8_t* bytes, Value* out) {
  for (size_t i = 0; i < kBlock; ++i) out[i] = bytes[i];
}
#endif

// Whether all varints that end in the block are of two bytes, the first of which may lie before it.
inline bool HasTwoByteVarints(const uint8_t* block, const uint8_t* start, uint64_t ends) {
  return (ends == kEverySecondByte && start == block) ||
         (ends == kEverySecondByte >> 1 && start == block - 1);
}

// How the value of a varint of `length` bytes is read from `bytes`, of which eight are readable.
// Longer ones than kLongest take the general way.
struct ShiftAndOr {
  static constexpr size_t kLongest = 4;
  static uint64_t Read(const uint8_t* bytes, size_t length) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    word &= UINT32_MAX >> (32 - 8 * length);
    return (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1fc000) | (word >> 3 & 0xfe00000);
  }
};

template <typename Way, typename Value>
size_t Decode(Span column, Value* out, size_t capacity) {
  const uint8_t* start = column.data;  // of the next varint
  const uint8_t* const end = column.data + column.size;
  size_t count = 0;
  // The margin lets Way::Read go past the last byte of a block.
  for (const uint8_t* block = start; static_cast<size_t>(end - block) >= kBlock + 8;
       block += kBlock) {
    uint64_t ends = EndsIn64(block);
    if (capacity - count < static_cast<size_t>(__builtin_popcountll(ends))) return SIZE_MAX;
    if (HasTwoByteVarints(block, start, ends)) {
      ReadTwoByteBlock(start, out + count);
      count += kBlock / 2;
      start += kBlock;
      continue;
    }
    if (ends == kEveryByte && start == block) {
      ReadOneByteBlock(start, out + count);
      count += kBlock;
      start += kBlock;
      continue;
    }
    for (; ends != 0; ends &= ends - 1) {
      const uint8_t* const next = block + __builtin_ctzll(ends) + 1;
      const size_t length = static_cast<size_t>(next - start);
      uint64_t value;
      if (__builtin_expect(length <= Way::kLongest, 1)) {
        value = Way::Read(start, length);
      } else if (base::GetVarint(start, next, &value) == nullptr) {
        return SIZE_MAX;
      }
      out[count++] = static_cast<Value>(value);
      start = next;
    }
  }
  while (start != end) {
    uint64_t value;
    start = base::GetVarint(start, end, &value);
    if (start == nullptr || count == capacity) return SIZE_MAX;
    out[count++] = static_cast<Value>(value);
  }
  return count;
}

#if defined(__x86_64__)
// BMI2: one instruction gathers the sevens of up to eight bytes. As assembly, because a function
// compiled for BMI2 cannot be inlined into one that is not, and this choice is made at run time.
struct ParallelExtract {
  static constexpr size_t kLongest = 8;
  static uint64_t Read(const uint8_t* bytes, size_t length) {
    uint64_t word, mask, value;
    memcpy(&word, bytes, sizeof word);
    asm("bzhi %2, %1, %0" : "=r"(mask) : "r"(UINT64_C(0x7f7f7f7f7f7f7f7f)), "r"(8 * length));
    asm("pext %2, %1, %0" : "=r"(value) : "r"(word), "r"(mask));
    return value;
  }
};

// AMD before Zen 3 runs pext in microcode, some 20 times slower.
bool HasFastParallelExtract() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") &&
         !__builtin_cpu_is("znver2") && !__builtin_cpu_is("bdver4");
}

template <typename Value>
size_t DecodeBest(Span column, Value* out, size_t capacity) {
  static const bool fast = HasFastParallelExtract();
  return fast ? Decode<ParallelExtract>(column, out, capacity)
              : Decode<ShiftAndOr>(column, out, capacity);
}
#else
template <typename Value>
size_t DecodeBest(Span column, Value* out, size_t capacity) {
  return Decode<ShiftAndOr>(column, out, capacity);
}
#endif

}  // namespace

size_t DecodeVarints(Span column, uint64_t* out, size_t capacity) {
  return DecodeBest(column, out, capacity);
}
size_t DecodeVarints(Span column, uint32_t* out, size_t capacity) {
  return DecodeBest(column, out, capacity);
}

size_t CountVarints(Span column) {
  if (column.size == 0) return 0;
  if (column.data[column.size - 1] & 0x80) return SIZE_MAX;
  size_t count = 0;
  size_t at = 0;
  for (; column.size - at >= kBlock; at += kBlock) {
    count += static_cast<size_t>(__builtin_popcountll(EndsIn64(column.data + at)));
  }
  for (; at < column.size; ++at) count += column.data[at] < 0x80;
  return count;
}

size_t DecodeVarintsPortable(Span column, uint64_t* out, size_t capacity) {
  return Decode<ShiftAndOr>(column, out, capacity);
}

}  // namespace rlscope::trace
