#include "trace/read/process_trace.h"

#include <gtest/gtest.h>

#include "memory_trace.h"
#include "trace/layout/shared_pages.h"
#include "trace/read/cursor.h"
#include "trace/write/interval_chunks.h"

namespace rlscope::trace {
namespace {

std::unique_ptr<ProcessTrace> Join(const std::vector<const MemoryTrace*>& traces) {
  std::vector<std::unique_ptr<TraceFile>> files;
  for (const MemoryTrace* trace : traces) files.push_back(trace->File());
  return std::make_unique<ProcessTrace>(std::move(files));
}

std::vector<int64_t> Times(const ProcessTrace& trace, size_t thread = 0) {
  std::vector<int64_t> times;
  ThreadCursor cursor(trace, thread);
  while (const CpuBatch* batch = cursor.Next()) {
    times.insert(times.end(), batch->time_ns, batch->time_ns + batch->count);
  }
  return times;
}

TEST(ProcessTrace, ChunksInFileAndRingCountOnce) {
  MemoryTrace file, ring;
  file.Process().Items(1, {{kOperationEnter, 7, 10}, {kOperationExit, 7, 20}});
  // The drainer died before it moved the tail; the ring holds those two and one more.
  ring.Process().Items(1, {{kOperationEnter, 7, 10}, {kOperationExit, 7, 20}, {kPhase, 1, 30}});
  const auto trace = Join({&file, &ring});
  EXPECT_EQ(Times(*trace), (std::vector<int64_t>{10, 20, 30}));
  EXPECT_EQ(trace->duplicate_chunks(), 1u);
  EXPECT_EQ(trace->missing_slots(), 0u);
  const auto same = Join({&file, &file});
  EXPECT_EQ(Times(*same), (std::vector<int64_t>{10, 20}));
}

TEST(ProcessTrace, OfAWaitThatWasSeenOpenItsRecordCounts) {
  MemoryTrace open, ended;
  open.Process().Items(1, {{kCallBegin, 7, 10}});
  ended.Process().Items(1, {{kCall, 7, 10, 20}});
  for (const auto& trace : {Join({&open, &ended}), Join({&ended, &open})}) {
    ThreadCursor cursor(*trace, 0);
    EXPECT_EQ(WhatKind(cursor.Next()->what[0]), kCall);
    EXPECT_EQ(trace->duplicate_chunks(), 1u);
  }
}

TEST(ProcessTrace, RingsOfAnotherClockThanTheFileAreLeftOut) {
  MemoryTrace file, ring;
  file.Process().Items(1, {{kPhase, 1, 10}});
  ring.Process(base::ClockKind::kTsc).SkipSlots(1, 1).Items(1, {{kPhase, 2, 20000}});
  const auto trace = Join({&file, &ring});
  EXPECT_EQ(Times(*trace), (std::vector<int64_t>{10}));
  ASSERT_EQ(trace->problems().size(), 1u);
  EXPECT_EQ(trace->problems()[0].bytes, ring.bytes().size());
}

TEST(ProcessTrace, ANumberHasOneName) {
  MemoryTrace file, ring;
  file.Process().Name(7, "inference");
  ring.Process().Name(7, "inference").Name(7, "damaged");
  const auto trace = Join({&file, &ring});
  ASSERT_EQ(trace->names().size(), 1u);
  EXPECT_EQ(trace->FindName(7)->text, "inference");
  ASSERT_EQ(trace->problems().size(), 1u);
  EXPECT_EQ(trace->problems()[0].bytes, 7u);
}

TEST(ProcessTrace, NumbersThatNoRecorderGivesAreNotBelieved) {
  MemoryTrace trace;
  trace.Process().Name(kLargestNameId, "last").Name(kLargestNameId + 1, "beyond");
  trace.Name(UINT32_MAX, "most").Thread(UINT32_MAX, 3, "thread").Thread(2, 3, "worker");
  trace.Name(5, "strange", NameKind::kFunction, static_cast<Layer>(77));
  const auto file = trace.File();
  ASSERT_EQ(file->names().size(), 2u);
  EXPECT_EQ(file->names()[0].text, "last");
  EXPECT_EQ(file->names()[1].layer, 0u);
  ASSERT_EQ(file->threads().size(), 1u);
  EXPECT_EQ(file->threads()[0].name, "worker");
  EXPECT_EQ(file->problems().size(), 3u);
}

TEST(ProcessTrace, ChunksThatShareOnlySomeSlotsAreNotCountedTwice) {
  MemoryTrace file, other;
  file.Process().Items(1, {{kPhase, 1, 10}, {kPhase, 2, 20}});
  other.Process().SkipSlots(1, 1).Items(1, {{kPhase, 2, 20}, {kPhase, 3, 30}});
  const auto trace = Join({&file, &other});
  EXPECT_EQ(Times(*trace), (std::vector<int64_t>{10, 20}));
  EXPECT_EQ(trace->problems().size(), 1u);
}

TEST(ProcessTrace, AMissingChunkIsAGapWithWhatWasOpen) {
  MemoryTrace file;
  file.Process()
      .Items(1, {{kOperationEnter, 7, 10}})
      .Items(1, {{kOperationEnter, 8, 20}})
      .SkipSlots(1, 5)
      .Items(1, {{kOperationExit, 8, 90}});
  const auto trace = Join({&file});
  EXPECT_EQ(trace->missing_slots(), 5u);
  ThreadCursor cursor(*trace, 0);
  EXPECT_FALSE(cursor.Next()->begins_after_gap);
  EXPECT_FALSE(cursor.Next()->begins_after_gap);
  const CpuBatch* batch = cursor.Next();
  ASSERT_TRUE(batch->begins_after_gap);
  EXPECT_EQ(batch->missing_slots, 5u);
  ASSERT_EQ(batch->open.size(), 2u);
  EXPECT_EQ(batch->open[1].name, 8u);
  EXPECT_EQ(batch->open[1].enter_ns, 20);
  EXPECT_EQ(batch->task, 0u);
}

TEST(ProcessTrace, TheFirstChunkMayBeMissing) {
  MemoryTrace file;
  file.Process().SkipSlots(1, 100).Items(1, {{kPhase, 1, 10}});
  const auto trace = Join({&file});
  ThreadCursor cursor(*trace, 0);
  EXPECT_TRUE(cursor.Next()->begins_after_gap);
}

TEST(ProcessTrace, AThreadGoesFromRingToRingWithoutAGap) {
  MemoryTrace file;
  file.Process()
      .Items(1, {{kPhase, 1, 10}, {kRingEnd, 9, 11}}, 4)
      .Items(1, {{kPhase, 2, 20}}, 9)
      .Items(1, {{kPhase, 3, 30}}, 2);
  const auto trace = Join({&file});
  EXPECT_EQ(Times(*trace), (std::vector<int64_t>{10, 20, 30}));
  EXPECT_EQ(trace->missing_slots(), 0u);
}

TEST(ProcessTrace, HousekeepingWithoutItemsHoldsItsPlaceInTheRing) {
  MemoryTrace file;
  file.Process().Items(1, {{kPhase, 1, 10}}).Items(1, {{kPad}, {kPad}}).Items(1, {{kPhase, 2, 20}});
  EXPECT_EQ(Join({&file})->missing_slots(), 0u);
}

TEST(ProcessTrace, TimesNeverRunBackwardsAcrossChunks) {
  MemoryTrace file, later;
  file.Process().Items(1, {{kCall, 7, 10, 90}}, 1);
  later.Process().Items(1, {{kPhase, 1, 50}, {kPhase, 2, 120}}, 2);  // another drainer's chunk
  const auto trace = Join({&file, &later});
  EXPECT_EQ(Times(*trace), (std::vector<int64_t>{10, 100, 120}));
  ThreadCursor cursor(*trace, 0);
  while (cursor.Next() != nullptr) {
  }
  EXPECT_EQ(cursor.clamped(), 1u);
}

TEST(ProcessTrace, ThreadsAndNamesAreJoined) {
  MemoryTrace file;
  file.Process().Thread(2, 500).Thread(2, 0, "worker").Name(9, "a").Name(3, "b");
  file.Items(5, {{kPhase, 1, 10}});
  const auto trace = Join({&file});
  ASSERT_EQ(trace->threads().size(), 2u);
  EXPECT_EQ(trace->threads()[0].thread.os_tid, 500u);
  EXPECT_EQ(trace->threads()[0].thread.name, "worker");
  EXPECT_EQ(trace->threads()[1].thread.thread, 5u);
  EXPECT_EQ(trace->FindName(9)->text, "a");
  EXPECT_EQ(trace->FindName(4), nullptr);
}

TEST(ProcessTrace, TicksOfAllFilesUseOneClock) {
  MemoryTrace file, ring;
  file.Process(base::ClockKind::kTsc).Clock({{1000, 0}}).Items(1, {{kPhase, 1, 1500}});
  ring.Process(base::ClockKind::kTsc).Clock({{2000, 500}}).Items(2, {{kPhase, 1, 1800}});
  const auto trace = Join({&file, &ring});
  EXPECT_EQ(Times(*trace, 0), std::vector<int64_t>{250});
  EXPECT_EQ(Times(*trace, 1), std::vector<int64_t>{400});
  int64_t first_ns, last_ns;
  ASSERT_TRUE(trace->RecordedSpan(&first_ns, &last_ns));
  EXPECT_EQ(first_ns, 250);
  EXPECT_EQ(last_ns, 400);
}

TEST(GpuCursor, OverlappingChunksOfAStreamAreMerged) {
  MemoryTrace file;
  file.Process();
  const auto write = [&](std::vector<std::pair<int64_t, int64_t>> spans) {
    std::vector<GpuInterval> intervals;
    for (const auto& [start, duration] : spans) {
      intervals.push_back({start, duration, GpuKind::kKernel, 1, start, 0});
    }
    EXPECT_EQ(0,
              WriteGpu(file.sink(), file.buffer(), {0, 0, 7}, intervals.data(), intervals.size()));
  };
  write({{100, 10}, {300, 10}, {500, 100}});
  write({{50, 10}, {200, 10}, {400, 300}});
  write({{700, 5}});
  const auto trace = Join({&file});
  GpuCursor cursor(*trace, 0);
  const GpuBatch* batch = cursor.Next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(std::vector<int64_t>(batch->start_ns, batch->start_ns + batch->count),
            (std::vector<int64_t>{50, 100, 200, 300, 400, 500, 700}));
  EXPECT_EQ(batch->end_ns[4], 700);
  EXPECT_EQ(batch->correlation[6], 700);
  EXPECT_EQ(cursor.Next(), nullptr);
}

}  // namespace
}  // namespace rlscope::trace
