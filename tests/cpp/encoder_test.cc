#include "trace/write/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "decoded_items.h"
#include "memory_trace.h"
#include "trace/read/decoder.h"
#include "trace/read/frame_reader.h"

namespace rlscope::trace {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

TEST(Encoder, EveryKindRoundTrips) {
  MemoryTrace trace;
  trace.Process().Items(3, {{kThreadBegin, 3, 10},
                            {kWindowStart, 0, 11},
                            {kPhase, 40, 12},
                            {kIteration, 1, 13},
                            {kOperationEnter, 7, 20},
                            {kTask, 5, 21},
                            {kOperationEnter, 8, 22},
                            {kOperationExit, 8, 23},
                            {kTask, 0, 24},
                            {kCall, 9, 30, 5},
                            {kCallBegin, 10, 40},
                            {kCallbackBegin, 0, 41},
                            {kCallbackEnd, 0, 42},
                            {kCallEnd, 0, 43},
                            {kOperationExit, 7, 50},
                            {kProgressTotal, 0, 60, 0, 111},
                            {kProgressDone, 0, 60, 0, 222},
                            {kWait, 0, 70, 0, 9},
                            {kGap, 0, 71, 0, 12},
                            {kShortWaits, 0, 72, 0, 33},
                            {kWindowStop, 0, 80},
                            {kThreadEnd, 0, 90}});
  EXPECT_THAT(ReadThread(*trace.Trace()),
              ElementsAreArray(std::vector<Decoded>{{10, kThreadBegin, 3},
                                                    {11, kWindowStart, 0},
                                                    {12, kPhase, 40},
                                                    {13, kIteration, 1},
                                                    {20, kOperationEnter, 7},
                                                    {21, kTask, 5},
                                                    {22, kOperationEnter, 8},
                                                    {23, kOperationExit, 0},
                                                    {24, kTask, 0},
                                                    {30, kCall, 9, 35},
                                                    {40, kCallBegin, 10},
                                                    {41, kCallbackBegin, 0},
                                                    {42, kCallbackEnd, 0},
                                                    {43, kCallEnd, 0},
                                                    {50, kOperationExit, 0},
                                                    {60, kProgressTotal, 0, 0, 111},
                                                    {60, kProgressDone, 0, 0, 222},
                                                    {70, kWait, 0, 0, 9},
                                                    {71, kGap, 0, 0, 12},
                                                    {72, kShortWaits, 0, 0, 33},
                                                    {80, kWindowStop, 0},
                                                    {90, kThreadEnd, 0}}));
}

TEST(Encoder, RingHousekeepingCountsAsSlotsOnly) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kNone}, {kOperationEnter, 7, 20}, {kPad}, {kRingEnd, 2, 21}, {29}});
  const auto file = trace.File();
  ASSERT_EQ(file->cpu().size(), 1u);
  EXPECT_EQ(file->cpu()[0].slots, 5u);
  EXPECT_EQ(file->cpu()[0].count, 1u);
  EXPECT_EQ(file->cpu()[0].events, 1u);
}

TEST(Encoder, ProbesAreItemsAndNoEvents) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kOperationEnter, 7, 10},
                            {kProbeRecord, 0, 20, 5},
                            {kProbe, kProbeRecordedCall, 30, 9},
                            {kCall, 9, 40, 3},
                            {kProbe, kProbeEmpty, 50, UINT32_MAX},
                            {kOperationExit, 7, 60}});
  EXPECT_THAT(
      ReadThread(*trace.Trace()),
      ElementsAre(Decoded{10, kOperationEnter, 7}, Decoded{20, kProbeRecord, 0, 0, 5},
                  Decoded{30, kProbe, kProbeRecordedCall, 0, 9}, Decoded{40, kCall, 9, 43},
                  Decoded{50, kProbe, kProbeEmpty, 0, UINT32_MAX}, Decoded{60, kOperationExit, 0}));
  EXPECT_EQ(trace.File()->cpu()[0].events, 2u);
}

TEST(Encoder, TheOperationOfProbesCountsAsSlotsOnly) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kOperationEnter, 7, 10},
                            {kOperationEnter, kProbeOperation, 20},
                            {kOperationExit, kProbeOperation, 21},
                            {kProbe, kProbeRecordedOperation, 22, 9},
                            {kOperationExit, 7, 30}});
  EXPECT_THAT(ReadThread(*trace.Trace()),
              ElementsAre(Decoded{10, kOperationEnter, 7},
                          Decoded{22, kProbe, kProbeRecordedOperation, 0, 9},
                          Decoded{30, kOperationExit, 0}));
  EXPECT_EQ(trace.File()->cpu()[0].slots, 5u);
  EXPECT_EQ(trace.File()->cpu()[0].events, 1u);
}

TEST(Encoder, AChunkTakesAsManyProbesAsItHasRoomFor) {
  MemorySink sink;
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;
  stream.Reset(1);
  encoder->Begin(&stream, 1, 0);
  uint32_t added = 0;
  for (; !encoder->Full(); ++added) {
    encoder->Add({added, UINT32_MAX, MakeWord(kProbe, kProbeEmpty, 1)}, nullptr);
  }
  EXPECT_EQ(added, kChunkProbes);
  EXPECT_EQ(0, encoder->Finish(&sink));
}

TEST(Encoder, OuterExitsKeepTheirNames) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kOperationEnter, 7, 1},
                            {kOperationEnter, 8, 2},
                            {kOperationExit, 7, 3},  // improper nesting
                            {kOperationExit, 8, 4},
                            {kOperationExit, 9, 5}});  // never entered
  EXPECT_THAT(ReadThread(*trace.Trace()),
              ElementsAre(Decoded{1, kOperationEnter, 7}, Decoded{2, kOperationEnter, 8},
                          Decoded{3, kOperationExit, 7}, Decoded{4, kOperationExit, 0},
                          Decoded{5, kOperationExit, 9}));
}

TEST(Encoder, TicksThatRunBackwardsAreMovedAndCounted) {
  MemorySink sink;
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;
  stream.Reset(1);
  encoder->Begin(&stream, 1, 0);
  encoder->Add({100, 50, MakeWord(kCall, 7, 1)}, nullptr);
  encoder->Add({120, 50, MakeWord(kCall, 7, 1)}, nullptr);  // ends at 170, whatever its start
  encoder->Add({90, 10, MakeWord(kCall, 7, 1)}, nullptr);   // lies wholly before: no length left
  ASSERT_EQ(0, encoder->Finish(&sink));
  encoder->Begin(&stream, 1, 3);
  encoder->Add({160, 0, MakeWord(kOperationEnter, 7, 1)}, nullptr);
  ASSERT_EQ(0, encoder->Finish(&sink));
  EXPECT_EQ(stream.clamped, 4u) << "three starts and one end";
  std::unique_ptr<TraceFile> file;
  ASSERT_TRUE(TraceFile::FromBytes({sink.data(), sink.data() + sink.bytes()}, "x", &file).ok());
  std::vector<std::unique_ptr<TraceFile>> files;
  files.push_back(std::move(file));
  EXPECT_THAT(ReadThread(ProcessTrace(std::move(files))),
              ElementsAre(Decoded{100, kCall, 7, 150}, Decoded{150, kCall, 7, 170},
                          Decoded{170, kCall, 7, 170}, Decoded{170, kOperationEnter, 7}));
}

TEST(Encoder, AnyTickAndNameSurvives) {
  MemoryTrace trace;
  trace.Process(base::ClockKind::kTsc, 1, 1, 1000000000)
      .Items(1, {{kOperationEnter, kMaxId - 1, 0},
                 {kOperationEnter, 1, UINT64_C(1) << 62},
                 {kCall, kMaxId, (UINT64_C(1) << 62) + 5, UINT32_MAX}});
  const auto file = trace.File();
  CpuHeader header;
  CpuColumns columns;
  ASSERT_TRUE(ParseCpuHeader(file->cpu()[0].payload, file->cpu()[0].size, &header));
  ASSERT_TRUE(DecodeCpu(header, &columns));
  EXPECT_EQ(columns.ticks[1], UINT64_C(1) << 62);
  EXPECT_EQ(WhatId(columns.what[0]), kMaxId - 1);
  EXPECT_EQ(columns.call_end[0], (UINT64_C(1) << 62) + 5 + UINT32_MAX);
}

TEST(Encoder, AChunkEndsAtItsItemLimit) {
  MemoryTrace trace;
  std::vector<Item> items;
  for (uint32_t i = 0; i < 10000; ++i) items.push_back({kOperationEnter, 1 + i, i});
  trace.Process().Items(1, items);
  const auto file = trace.File();
  ASSERT_EQ(file->cpu().size(), 3u);
  EXPECT_EQ(file->cpu()[0].count, kChunkItems);
  EXPECT_EQ(file->cpu()[1].first_slot, kChunkItems);
  const std::vector<Decoded> decoded = ReadThread(*trace.Trace());
  ASSERT_EQ(decoded.size(), items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(decoded[i], (Decoded{static_cast<int64_t>(i), kOperationEnter, 1 + i}));
  }
}

TEST(Encoder, ProcessItemsAreFoundWithoutDecoding) {
  MemoryTrace trace;
  std::vector<Item> items;
  for (uint32_t i = 0; i < 2000; ++i) items.push_back({kIteration, 0, 10 + i});
  trace.Process().Items(1, items).Items(2, {{kPhase, 5, 10}, {kProgressDone, 0, 11, 0, 77}});
  const auto found = trace.Trace()->ReadProcessItems();
  ASSERT_EQ(found.size(), 2002u);
  EXPECT_EQ(found[0].kind, kIteration);
  EXPECT_EQ(found[1].kind, kPhase) << "ties: lower thread first";
  EXPECT_EQ(found[1].thread, 2u);
  EXPECT_EQ(found[3].value, 77u);
  EXPECT_EQ(found.back().time_ns, 2009);
}

TEST(Encoder, HeaderHoldsWhatWasOpenBeforeItsFirstItem) {
  MemoryTrace trace;
  trace.Process()
      .Items(1, {{kOperationEnter, 7, 1}, {kTask, 4, 2}, {kOperationEnter, 8, 3}})
      .Items(1, {{kOperationExit, 8, 9}});
  const auto file = trace.File();
  CpuHeader header;
  std::vector<OpenOperation> open;
  ASSERT_TRUE(ParseCpuHeader(file->cpu()[1].payload, file->cpu()[1].size, &header));
  ASSERT_TRUE(DecodeOpen(header, &open));
  EXPECT_EQ(header.task, 4u);
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].name, 7u);
  EXPECT_EQ(open[0].task, 0u);
  EXPECT_EQ(open[1].name, 8u);
  EXPECT_EQ(open[1].task, 4u);
  EXPECT_EQ(open[1].enter_ticks, 3u);
}

TEST(Encoder, AStreamPickedUpInTheMiddleSaysThatItKnowsNothing) {
  MemorySink sink;
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;  // no kThreadBegin, no Reset
  stream.thread = 1;
  encoder->Begin(&stream, 1, 500);
  encoder->Add({100, 0, MakeWord(kOperationExit, 7, 1)}, nullptr);
  ASSERT_EQ(0, encoder->Finish(&sink));
  CpuHeader header;
  CpuColumns columns;
  ASSERT_TRUE(ParseCpuHeader(sink.data() + 16, sink.bytes() - 16, &header));
  ASSERT_TRUE(DecodeCpu(header, &columns));
  EXPECT_EQ(header.task, kUnknownTask);
  EXPECT_EQ(columns.what[0], MakeWhat(kOperationExit, 7)) << "the exit keeps its name";
}

}  // namespace
}  // namespace rlscope::trace
