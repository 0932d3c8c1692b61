#include "trace/read/decoder.h"

#include <gtest/gtest.h>

#include <random>

#include "base/wire.h"
#include "memory_trace.h"
#include "trace/read/frame_reader.h"
#include "trace/read/varints.h"

namespace rlscope::trace {
namespace {

std::vector<uint8_t> Encoded(const std::vector<uint64_t>& values) {
  std::vector<uint8_t> bytes(values.size() * base::kMaxVarintBytes);
  uint8_t* end = bytes.data();
  for (const uint64_t value : values) end = base::PutVarint(end, value);
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  bytes.shrink_to_fit();  // so that AddressSanitizer sees a read behind the end
  return bytes;
}

TEST(Varints, BothWaysDecodeColumnsOfMixedLengths) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint64_t> values(random() % 300);
    const unsigned longest = 1 + round % 64;
    for (uint64_t& value : values) value = random() >> (64 - 1 - random() % longest);
    const std::vector<uint8_t> bytes = Encoded(values);
    std::vector<uint64_t> wide(values.size()), portable(values.size());
    std::vector<uint32_t> narrow(values.size());
    const Span column = {bytes.data(), bytes.size()};
    ASSERT_EQ(CountVarints(column), values.size());
    ASSERT_EQ(DecodeVarints(column, wide.data(), wide.size()), values.size());
    ASSERT_EQ(DecodeVarintsPortable(column, portable.data(), portable.size()), values.size());
    ASSERT_EQ(DecodeVarints(column, narrow.data(), narrow.size()), values.size());
    ASSERT_EQ(wide, values);
    ASSERT_EQ(portable, values);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(narrow[i], static_cast<uint32_t>(values[i]));
    }
  }
}

TEST(Varints, RefusesWhatIsCutOffTooLongOrTooMuch) {
  std::vector<uint64_t> out(1000);
  const std::vector<uint8_t> good = Encoded(std::vector<uint64_t>(200, 300));
  EXPECT_EQ(DecodeVarints({good.data(), good.size()}, out.data(), 200), 200u);
  EXPECT_EQ(DecodeVarints({good.data(), good.size()}, out.data(), 199), SIZE_MAX);
  EXPECT_EQ(DecodeVarints({good.data(), good.size() - 1}, out.data(), 200), SIZE_MAX);
  EXPECT_EQ(CountVarints({good.data(), good.size() - 1}), SIZE_MAX);
  std::vector<uint8_t> endless(200, 0x80);
  EXPECT_EQ(DecodeVarints({endless.data(), endless.size()}, out.data(), 1000), SIZE_MAX);
  endless[100] = 1;
  EXPECT_EQ(DecodeVarints({endless.data(), 101}, out.data(), 1000), SIZE_MAX);
}

// Payload of the first frame of a type.
std::vector<uint8_t> PayloadOf(const MemoryTrace& trace, FrameType type) {
  const std::vector<uint8_t> bytes = trace.bytes();
  FrameReader reader(bytes.data(), bytes.size());
  FrameView frame;
  while (reader.Next(&frame)) {
    if (frame.type == type) return {frame.payload.data, frame.payload.data + frame.payload.size};
  }
  return {};
}

bool DecodesCpu(const std::vector<uint8_t>& payload) {
  CpuHeader header;
  CpuColumns columns;
  std::vector<OpenOperation> open;
  std::vector<ProcessItem> items;
  if (!ParseCpuHeader(payload.data(), payload.size(), &header)) return false;
  DecodeOpen(header, &open);
  AppendProcessItems(header, &items);
  return DecodeCpu(header, &columns);
}

// Checksums keep damage away from the decoder; a wrong writer they do not. Any byte may lie.
TEST(Decoder, SurvivesEveryByteChangeAndTruncation) {
  MemoryTrace trace;
  std::vector<Item> items;
  for (uint32_t i = 0; i < 40; ++i) {
    items.push_back({kOperationEnter, i % 5 + 1, 100000 * i});
    items.push_back({kCall, i % 7 + 10, 100000 * i + 5, 300 + i});
    items.push_back({kOperationExit, i % 5 + 1, 100000 * i + 4000});
    items.push_back({kProgressDone, 0, 100000 * i + 5000, 0, i});
  }
  trace.Process().Items(1, items);
  const std::vector<uint8_t> payload = PayloadOf(trace, FrameType::kCpu);
  ASSERT_TRUE(DecodesCpu(payload));
  size_t refused = 0;
  for (size_t at = 0; at < payload.size(); ++at) {
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> changed = payload;
      changed[at] = value;
      refused += !DecodesCpu(changed);
    }
    DecodesCpu({payload.begin(), payload.begin() + static_cast<long>(at)});
  }
  EXPECT_GT(refused, payload.size()) << "most changes contradict something";
}

TEST(Decoder, AnAbsurdCountIsRefusedBeforeAnythingIsAllocated) {
  uint8_t payload[32];
  uint8_t* end = base::PutVarintField(payload, 6, UINT32_MAX);
  end = base::PutBytesField(end, 7, "\x02\x02", 2);
  CpuHeader header;
  EXPECT_FALSE(ParseCpuHeader(payload, static_cast<size_t>(end - payload), &header));
}

TEST(Decoder, FieldsOfALaterVersionAreIgnored) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kOperationEnter, 7, 1}});
  std::vector<uint8_t> payload = PayloadOf(trace, FrameType::kCpu);
  uint8_t extra[32];
  uint8_t* end = base::PutVarintField(extra, 99, 5);
  end = base::PutBytesField(end, 98, "later", 5);
  payload.insert(payload.end(), extra, end);
  EXPECT_TRUE(DecodesCpu(payload));
}

}  // namespace
}  // namespace rlscope::trace
