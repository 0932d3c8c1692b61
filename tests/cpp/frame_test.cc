#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "trace/read/frame_reader.h"
#include "trace/write/frame_writer.h"
#include "trace/write/sink.h"

namespace rlscope::trace {
namespace {

std::string TextOf(Span span) {
  return std::string(reinterpret_cast<const char*>(span.data), span.size);
}

// Payloads of all frames that are read from `bytes`.
std::vector<std::string> Payloads(const std::vector<uint8_t>& bytes,
                                  std::vector<Damage>* damages = nullptr) {
  std::vector<std::string> payloads;
  FrameReader reader(bytes.data(), bytes.size());
  FrameView frame;
  while (reader.Next(&frame)) payloads.push_back(TextOf(frame.payload));
  if (damages != nullptr) *damages = reader.damages();
  return payloads;
}

std::vector<uint8_t> BytesOf(const MemorySink& sink) {
  return {sink.data(), sink.data() + sink.bytes()};
}

std::vector<uint8_t> ThreeFrames() {
  MemorySink sink;
  EXPECT_EQ(0, AppendFrame(&sink, FrameType::kNames, "first", 5));
  EXPECT_EQ(0, AppendFrame(&sink, FrameType::kCpu, "second one", 10));
  EXPECT_EQ(0, AppendFrame(&sink, FrameType::kEnd, "", 0));
  return BytesOf(sink);
}

TEST(Frame, LayoutIsTheOneOfTheFormat) {
  const std::vector<uint8_t> bytes = ThreeFrames();
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 4), "RLSF");
  EXPECT_EQ(bytes[4], 5);
  EXPECT_EQ(bytes[12], 2) << "type";
  EXPECT_EQ(bytes[14], kFormatVersion);
  EXPECT_EQ(std::string(bytes.begin() + 16, bytes.begin() + 21), "first");
  EXPECT_EQ(bytes.size(), 3 * sizeof(FrameHeader) + 15);
}

TEST(Frame, PiecesAreOnePayload) {
  MemorySink pieces_sink, whole_sink;
  char a[] = "sec", b[] = "ond one";
  struct iovec pieces[] = {{nullptr, 0}, {a, 3}, {nullptr, 0}, {b, 7}};
  ASSERT_EQ(0, AppendFrame(&pieces_sink, FrameType::kCpu, pieces, 4));
  ASSERT_EQ(0, AppendFrame(&whole_sink, FrameType::kCpu, "second one", 10));
  EXPECT_EQ(BytesOf(pieces_sink), BytesOf(whole_sink));
}

TEST(Frame, RefusesAPayloadThatReadersWouldTakeForDamage) {
  MemorySink sink;
  const std::vector<uint8_t> large(kMaxPayloadBytes + 1);
  EXPECT_EQ(EMSGSIZE, AppendFrame(&sink, FrameType::kNames, large.data(), large.size()));
  EXPECT_EQ(sink.bytes(), 0u);
  EXPECT_EQ(0, AppendFrame(&sink, FrameType::kNames, large.data(), large.size() - 1));
}

TEST(FrameReader, ReadsWhatWasWritten) {
  std::vector<Damage> damages;
  EXPECT_EQ(Payloads(ThreeFrames(), &damages),
            (std::vector<std::string>{"first", "second one", ""}));
  EXPECT_TRUE(damages.empty());
}

// Cut anywhere: every frame that is whole is read, and the rest is one damage at the end.
TEST(FrameReader, TruncationAtEveryByteKeepsTheWholeFrames) {
  const std::vector<uint8_t> bytes = ThreeFrames();
  const size_t ends[] = {21, 47, 63};
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<Damage> damages;
    const auto payloads = Payloads({bytes.begin(), bytes.begin() + size}, &damages);
    const size_t whole = static_cast<size_t>(
        std::count_if(std::begin(ends), std::end(ends), [&](size_t end) { return end <= size; }));
    EXPECT_EQ(payloads.size(), whole) << size;
    const size_t intact = whole == 0 ? 0 : ends[whole - 1];
    ASSERT_EQ(damages.size(), intact == size ? 0u : 1u);
    if (damages.empty()) continue;
    EXPECT_EQ(damages[0].offset, intact);
    EXPECT_EQ(damages[0].bytes, size - intact);
    EXPECT_TRUE(damages[0].at_end);
  }
}

// One flipped bit costs the frame it lies in and no other.
TEST(FrameReader, EveryBitFlipCostsOneFrame) {
  const std::vector<uint8_t> bytes = ThreeFrames();
  const std::vector<std::string> all = Payloads(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::vector<uint8_t> flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const size_t hit = bit / 8 < 21 ? 0 : bit / 8 < 47 ? 1 : 2;
    std::vector<std::string> expected = all;
    expected.erase(expected.begin() + static_cast<long>(hit));
    EXPECT_EQ(Payloads(flipped), expected) << "bit " << bit;
  }
}

TEST(FrameReader, AMagicInsideAPayloadIsNotAFrame) {
  MemorySink sink;
  ASSERT_EQ(0, AppendFrame(&sink, FrameType::kNames, "RLSF\x04\0\0\0 RLSRLSF", 16));
  ASSERT_EQ(0, AppendFrame(&sink, FrameType::kNames, "next", 4));
  std::vector<uint8_t> bytes = BytesOf(sink);
  EXPECT_EQ(Payloads(bytes).size(), 2u);
  bytes[20] ^= 1;
  EXPECT_EQ(Payloads(bytes), std::vector<std::string>{"next"});
}

// A file of nothing but frame beginnings that claim great lengths must not take quadratic time.
TEST(FrameReader, AFileOfMagicsEnds) {
  std::vector<uint8_t> bytes(1 << 20);
  for (size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    const FrameHeader header = {kFrameMagic, static_cast<uint32_t>(bytes.size() / 2), 0, 5, 1};
    memcpy(&bytes[at], &header, sizeof header);
  }
  EXPECT_TRUE(Payloads(bytes).empty());
}

class FileSinkTest : public testing::Test {
 protected:
  void SetUp() override { descriptor_ = mkstemp(path_); }
  void TearDown() override {
    close(descriptor_);
    unlink(path_);
  }
  uint64_t Size() const {
    struct stat status;
    fstat(descriptor_, &status);
    return static_cast<uint64_t>(status.st_size);
  }

  char path_[32] = "/tmp/rlscope_sink_XXXXXX";
  int descriptor_ = -1;
};

TEST_F(FileSinkTest, AppendsAndCounts) {
  FileSink sink(descriptor_);
  ASSERT_EQ(0, AppendFrame(&sink, FrameType::kNames, "first", 5));
  ASSERT_EQ(0, AppendFrame(&sink, FrameType::kCpu, "second one", 10));
  EXPECT_EQ(sink.bytes(), Size());
  EXPECT_EQ(sink.error(), 0);
}

// RLIMIT_FSIZE stands for a full disk: the first write is short, the next one refused.
TEST_F(FileSinkTest, AFullDiskIsReportedAndStaysSo) {
  const auto before = signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit, small;
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 30;
  setrlimit(RLIMIT_FSIZE, &small);
  FileSink sink(descriptor_);
  EXPECT_EQ(0, AppendFrame(&sink, FrameType::kNames, "first", 5));
  EXPECT_EQ(EFBIG, AppendFrame(&sink, FrameType::kCpu, "second one", 10));
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(EFBIG, AppendFrame(&sink, FrameType::kEnd, "", 0)) << "nothing after a missing frame";
  signal(SIGXFSZ, before);
  EXPECT_EQ(sink.bytes(), 21u);
  EXPECT_EQ(Size(), 21u) << "nothing of a torn frame";
  std::vector<uint8_t> bytes(21);
  ASSERT_EQ(pread(descriptor_, bytes.data(), 21, 0), 21);
  EXPECT_EQ(Payloads(bytes), std::vector<std::string>{"first"});
}

TEST_F(FileSinkTest, ABadDescriptorIsAnError) {
  FileSink sink(-1);
  EXPECT_EQ(EBADF, AppendFrame(&sink, FrameType::kNames, "x", 1));
}

TEST(MemorySink, GrowsAsNeeded) {
  MemorySink sink;
  const std::string payload(100000, 'x');
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(0, AppendFrame(&sink, FrameType::kNames, payload.data(), payload.size()));
  }
  EXPECT_EQ(sink.bytes(), 20 * (payload.size() + sizeof(FrameHeader)));
  EXPECT_EQ(Payloads(BytesOf(sink)).size(), 20u);
}

}  // namespace
}  // namespace rlscope::trace
