#include "trace/write/interval_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "memory_trace.h"
#include "trace/read/cursor.h"
#include "trace/write/interval_chunks.h"

namespace rlscope::trace {
namespace {

using Stream = std::tuple<uint32_t, uint32_t, uint32_t>;  // device, context, stream

struct Record {
  Slot slots[kMostSlots];
};

Record CallRecord(uint64_t start, uint64_t duration, uint32_t name, uint32_t correlation) {
  Record record = {};
  record.slots[0] = {start, static_cast<uint32_t>(duration), MakeWord(kCudaCall, name, 0)};
  record.slots[1] = {CudaCallPayload(correlation, 3), CudaCallMore(duration, 700),
                     MakeWord(kContinued, 0, 0)};
  return record;
}

Record LineCallRecord(uint64_t start, uint32_t site) {
  Record record = CallRecord(start, 1, 9, 1);
  record.slots[0].word = MakeWord(kLineCudaCall, 9, 0);
  record.slots[2] = {site, 0, MakeWord(kContinued, 0, 0)};
  return record;
}

Record WorkRecord(const GpuWork& work, uint32_t name) {
  Record record = {};
  PackGpuWork(work, record.slots);
  record.slots[0].word = MakeWord(kGpuWork, name, 0);
  for (uint32_t i = 1; i < SlotsOf(kGpuWork); ++i)
    record.slots[i].word = MakeWord(kContinued, 0, 0);
  return record;
}

class RandomWork {
 public:
  explicit RandomWork(uint32_t seed) : random_(seed) {}

  GpuWork Next() {
    GpuWork work = {};
    work.device = Pick(3);
    work.context = 1 + Pick(2);
    work.stream = 7 + Pick(4);
    GpuInterval& interval = work.interval;
    interval.start_ns = 1000000 + Pick(1000000);
    interval.duration_ns = Pick(20) == 0 ? int64_t{5000000000} : Pick(5000);
    interval.kind = static_cast<GpuKind>(1 + Pick(6));
    interval.name = Pick(1000);
    interval.correlation = Pick(UINT32_MAX);
    interval.graph = Pick(3) == 0 ? Pick(100) : 0;
    interval.detail.how = static_cast<uint8_t>(Pick(256));
    if (interval.kind == GpuKind::kKernel) {
      interval.detail.grid = uint64_t{Pick(UINT32_MAX)} | uint64_t{Pick(65536)} << 32;
      interval.detail.block = Pick(UINT32_MAX);
      interval.detail.shared_memory = uint64_t{Pick(232448)} << 32 | Pick(49152);
      interval.detail.registers = static_cast<uint16_t>(Pick(256));
    } else {
      interval.bytes = uint64_t{Pick(UINT32_MAX)} << 8;
    }
    return work;
  }

 private:
  uint32_t Pick(uint32_t below) {
    return std::uniform_int_distribution<uint32_t>(0, below - 1)(random_);
  }
  std::mt19937 random_;
};

auto Fields(const GpuInterval& interval) {
  const GpuDetail& detail = interval.detail;
  return std::make_tuple(interval.start_ns, interval.duration_ns, interval.kind, interval.name,
                         interval.correlation, interval.bytes, interval.graph, detail.grid,
                         detail.block, detail.shared_memory, detail.registers, detail.how);
}
using Rows = std::vector<decltype(Fields(GpuInterval()))>;

Rows ReadStream(const ProcessTrace& trace, size_t index) {
  Rows rows;
  GpuCursor cursor(trace, index);
  while (const GpuBatch* batch = cursor.Next()) {
    for (uint32_t i = 0; i < batch->count; ++i) {
      rows.push_back(
          Fields({batch->start_ns[i], batch->end_ns[i] - batch->start_ns[i],
                  static_cast<GpuKind>(batch->kind[i]), batch->name[i], batch->correlation[i],
                  batch->bytes[i], batch->graph[i], batch->detail[i]}));
    }
  }
  return rows;
}

class IntervalEncoderTest : public testing::Test {
 protected:
  void Write(RingUse use, const std::vector<Record>& records, uint64_t first_slot = 0) {
    encoder_->Begin(use, {5, 2, first_slot, 0});
    for (const Record& record : records) {
      ASSERT_FALSE(encoder_->Full());
      encoder_->Add(record.slots[0], record.slots + 1);
    }
    EXPECT_EQ(0, encoder_->Finish(file_.sink(), file_.buffer(), &clamped_));
  }

  MemoryTrace file_;
  std::unique_ptr<IntervalEncoder> encoder_ = std::make_unique<IntervalEncoder>();
  uint64_t clamped_ = 0;
};

TEST_F(IntervalEncoderTest, CallsComeBackAsTheyWere) {
  file_.Process();
  const uint64_t hour = 3600000000000;
  Write(RingUse::kCudaCalls, {CallRecord(100, 50, 9, 77), CallRecord(200, hour, 8, UINT32_MAX)});
  const auto trace = file_.Trace();
  ASSERT_EQ(trace->threads().size(), 1u);
  EXPECT_EQ(trace->threads()[0].thread.thread, 5u);
  CudaCallCursor cursor(*trace, 0);
  const CudaCallBatch* batch = cursor.Next();
  ASSERT_NE(batch, nullptr);
  ASSERT_EQ(batch->count, 2u);
  EXPECT_EQ(batch->start_ns[0], 100);
  EXPECT_EQ(batch->end_ns[0], 150);
  EXPECT_EQ(batch->end_ns[1], 200 + static_cast<int64_t>(hour));
  EXPECT_EQ(batch->name[0], 9u);
  EXPECT_EQ(batch->correlation[0], 77);
  EXPECT_EQ(batch->correlation[1], UINT32_MAX);
  EXPECT_EQ(batch->status[0], 700u);
  EXPECT_EQ(batch->context[1], 3u);
  EXPECT_EQ(encoder_->events(), 2u);
  EXPECT_EQ(clamped_, 0u);
}

TEST_F(IntervalEncoderTest, CallsComeBackWithTheirSites) {
  file_.Process();
  Write(RingUse::kCudaCalls, {LineCallRecord(100, 7), CallRecord(200, 50, 9, 1),
                              LineCallRecord(300, kMostSites), LineCallRecord(400, UINT32_MAX)});
  EXPECT_EQ(encoder_->slots(), 3u + 2 + 3 + 3);
  EXPECT_EQ(encoder_->left_out(), 0u);
  const auto trace = file_.Trace();
  CudaCallCursor cursor(*trace, 0);
  const CudaCallBatch* batch = cursor.Next();
  ASSERT_NE(batch, nullptr);
  ASSERT_EQ(batch->count, 4u);
  EXPECT_EQ(batch->name[0], 9u);
  EXPECT_EQ(SiteOf(*batch, 0), kFirstSite + 7);
  EXPECT_EQ(SiteOf(*batch, 1), 0u);
  EXPECT_EQ(SiteOf(*batch, 2), kFirstSite + kMostSites);
  EXPECT_EQ(SiteOf(*batch, 3), 0u);  // no process writes that
}

TEST_F(IntervalEncoderTest, WorkComesBackByStreamAndTime) {
  file_.Process();
  RandomWork random(1);
  std::map<Stream, Rows> expected;
  std::vector<Record> records;
  for (uint32_t i = 0; i < IntervalEncoder::kMostWork; ++i) {
    const GpuWork work = random.Next();
    expected[{work.device, work.context, work.stream}].push_back(Fields(work.interval));
    records.push_back(WorkRecord(work, work.interval.name));
  }
  Write(RingUse::kGpu, records);
  EXPECT_TRUE(encoder_->Full());
  const auto trace = file_.Trace();
  ASSERT_EQ(trace->gpu_streams().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const GpuStream& stream = trace->gpu_streams()[i];
    Rows& rows = expected[{stream.device, stream.context, stream.stream}];
    Rows read = ReadStream(*trace, i);
    std::sort(rows.begin(), rows.end());
    EXPECT_TRUE(std::is_sorted(read.begin(), read.end(), [](const auto& a, const auto& b) {
      return std::get<0>(a) < std::get<0>(b);
    }));
    std::sort(read.begin(), read.end());
    EXPECT_EQ(read, rows);
  }
  EXPECT_EQ(trace->missing_slots(), 0u);
}

TEST_F(IntervalEncoderTest, APieceThatWasWrittenTwiceCountsOnce) {
  file_.Process();
  RandomWork random(2);
  std::vector<Record> records;
  for (int i = 0; i < 100; ++i) records.push_back(WorkRecord(random.Next(), 1));
  Write(RingUse::kGpu, records);
  const uint64_t chunks = file_.Trace()->gpu_streams().size();
  Write(RingUse::kGpu, records);
  const auto trace = file_.Trace();
  EXPECT_EQ(trace->CountEvents().Sum(), 100u);
  EXPECT_EQ(trace->duplicate_chunks(), chunks);
}

// The drainer that writes a piece may die between its chunks.
TEST_F(IntervalEncoderTest, TheRestOfAPieceIsTakenFromTheSecondWriting) {
  MemoryTrace half;
  half.Process();
  file_.Process();
  RandomWork random(3);
  std::vector<Record> records;
  GpuWork first = random.Next(), other = random.Next();
  first.stream = 7;
  other.stream = 8;
  records.push_back(WorkRecord(first, 1));
  records.push_back(WorkRecord(other, 1));
  const GpuOrigin origin = {first.device, first.context, 7, 2, 0, 2 * SlotsOf(kGpuWork)};
  first.interval.name = 1;
  EXPECT_EQ(0, WriteGpu(half.sink(), half.buffer(), origin, &first.interval, 1));
  Write(RingUse::kGpu, records);
  std::vector<std::unique_ptr<TraceFile>> files;
  files.push_back(half.File());
  files.push_back(file_.File());
  const ProcessTrace trace(std::move(files));
  EXPECT_EQ(trace.CountEvents().Sum(), 2u);
  EXPECT_EQ(trace.duplicate_chunks(), 1u);
  EXPECT_EQ(trace.missing_slots(), 0u);
}

TEST_F(IntervalEncoderTest, LostPiecesAreMissing) {
  file_.Process();
  RandomWork random(4);
  const std::vector<Record> records = {WorkRecord(random.Next(), 1)};
  Write(RingUse::kGpu, records);
  Write(RingUse::kGpu, records, 20);
  EXPECT_EQ(file_.Trace()->missing_slots(), 20u - SlotsOf(kGpuWork));
}

TEST_F(IntervalEncoderTest, SlotsWithoutIntervalsAreNotMissing) {
  file_.Process();
  Record pad = {};
  pad.slots[0].word = MakeWord(kPad, 0, 0);
  Write(RingUse::kGpu, {pad, pad});
  Write(RingUse::kCudaCalls, {pad});
  RandomWork random(5);
  Write(RingUse::kGpu, {WorkRecord(random.Next(), 1)}, 2);
  const auto trace = file_.Trace();
  EXPECT_EQ(trace->missing_slots(), 0u);
  EXPECT_EQ(trace->CountEvents().Sum(), 1u);
  EXPECT_TRUE(trace->problems().empty());
}

}  // namespace
}  // namespace rlscope::trace
