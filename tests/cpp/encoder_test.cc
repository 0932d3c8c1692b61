#include "trace/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "memory_trace.h"
#include "trace/cursor.h"
#include "trace/decoder.h"
#include "trace/frame_reader.h"

namespace rlscope::trace {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

struct Decoded {
  int64_t time_ns;
  uint32_t kind;
  uint32_t id;
  int64_t end_ns = 0;
  uint64_t value = 0;
  bool operator==(const Decoded& o) const {
    return time_ns == o.time_ns && kind == o.kind && id == o.id && end_ns == o.end_ns &&
           value == o.value;
  }
};
void PrintTo(const Decoded& d, std::ostream* out) {
  *out << "{" << d.time_ns << ", kind " << d.kind << ", id " << d.id << ", end " << d.end_ns
       << ", value " << d.value << "}";
}

std::vector<Decoded> ReadThread(const ProcessTrace& trace, size_t index = 0) {
  std::vector<Decoded> items;
  ThreadCursor cursor(trace, index);
  while (const CpuBatch* batch = cursor.Next()) {
    uint32_t call = 0, value = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
      Decoded item = {batch->time_ns[i], WhatKind(batch->what[i]), WhatId(batch->what[i])};
      if (item.kind == kCall) item.end_ns = batch->call_end_ns[call++];
      if (HasTwoSlots(item.kind)) item.value = batch->value[value++];
      items.push_back(item);
    }
    EXPECT_EQ(call, batch->calls);
    EXPECT_EQ(value, batch->values);
  }
  EXPECT_EQ(cursor.undecodable_chunks(), 0u);
  return items;
}

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
                            {kWait, 0, 70, 0, 999},
                            {kGap, 0, 71, 0, 12},
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
                                                    {70, kWait, 0, 0, 999},
                                                    {71, kGap, 0, 0, 12},
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
  EXPECT_EQ(stream.clamped, 3u);
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
      .Items(1, {{kOperationEnter, kMaxId, 0},
                 {kOperationEnter, 1, UINT64_C(1) << 62},
                 {kCall, kMaxId, (UINT64_C(1) << 62) + 5, UINT32_MAX}});
  const auto file = trace.File();
  CpuHeader header;
  CpuColumns columns;
  ASSERT_TRUE(ParseCpuHeader(file->cpu()[0].payload, file->cpu()[0].size, &header));
  ASSERT_TRUE(DecodeCpu(header, &columns));
  EXPECT_EQ(columns.ticks[1], UINT64_C(1) << 62);
  EXPECT_EQ(WhatId(columns.what[0]), kMaxId);
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

// The encoder's ends and the decoder's agree on random programs: improper nesting, recursion,
// tasks, unmatched exits, gaps, windows, more open operations than are tracked.
TEST(Encoder, InnermostExitsMeanTheSameToTheReader) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MemoryTrace trace;
    trace.Process();
    std::vector<Item> items;
    const bool deep = round % 10 == 0;
    const uint32_t length = deep ? 6000 : 300;
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t dice = random() % 100;
      const uint32_t name = 1 + random() % 4;
      if (dice < (deep ? 60u : 45u)) {
        items.push_back({kOperationEnter, name, i});
      } else if (dice < 90) {
        items.push_back({kOperationExit, name, i});
      } else if (dice < 98) {
        items.push_back({kTask, static_cast<uint32_t>(random() % 3), i});
      } else if (dice < 99) {
        items.push_back({kGap, 0, i, 0, 1});
      } else {
        items.push_back({kWindowStop, 0, i});
      }
    }
    trace.Items(1, items);
    // A reader with an unbounded stack, closing by name and by END, side by side.
    std::vector<std::pair<uint32_t, uint32_t>> by_name, by_file;  // task, name
    uint32_t task = 0;
    const auto close = [&](auto* open, uint32_t name, bool innermost) {
      for (const uint32_t where : {task, 0u}) {
        for (size_t i = open->size(); i-- > 0;) {
          if ((*open)[i].first != where) continue;
          if (innermost || (*open)[i].second == name) {
            open->erase(open->begin() + static_cast<long>(i));
            return;
          }
        }
        if (innermost) return;
      }
    };
    const std::vector<Decoded> decoded = ReadThread(*trace.Trace());
    ASSERT_EQ(decoded.size(), items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind == kTask) task = items[i].id;
      if (items[i].kind == kGap || items[i].kind == kWindowStop) {
        by_name.clear();
        by_file.clear();
      }
      if (items[i].kind == kOperationEnter) {
        by_name.push_back({task, items[i].id});
        by_file.push_back({task, decoded[i].id});
      }
      if (items[i].kind == kOperationExit) {
        close(&by_name, items[i].id, false);
        close(&by_file, decoded[i].id, decoded[i].id == 0);
      }
      ASSERT_EQ(by_name, by_file) << "round " << round << ", item " << i;
    }
  }
}

// A window change of the process, which other threads' rings tell of.
struct Change {
  uint64_t ticks;
  bool starts;
};

// The reader's side of one thread: closes by name, or what the file says.
class Closing {
 public:
  explicit Closing(std::vector<std::pair<uint32_t, uint32_t>>* open) : open_(open) {}

  void Apply(uint32_t kind, uint32_t id) {
    if (kind == kTask) task_ = id;
    if (kind == kOperationEnter) open_->push_back({task_, id});
    if (kind == kOperationExit && !Close(task_, id) && id != 0) Close(0, id);
  }

 private:
  bool Close(uint32_t task, uint32_t id) {
    for (size_t i = open_->size(); i-- > 0;) {
      if ((*open_)[i].first != task || (id != 0 && (*open_)[i].second != id)) continue;
      open_->erase(open_->begin() + static_cast<long>(i));
      return true;
    }
    return false;
  }

  std::vector<std::pair<uint32_t, uint32_t>>* open_;
  uint32_t task_ = 0;
};

// Chunks of random length; the drainer knows all changes before the chunk's last item, but perhaps
// not yet the very last one.
void EncodeBesideChanges(const std::vector<Item>& items, const std::vector<Change>& changes,
                         std::mt19937* random, Sink* sink) {
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;
  stream.Reset(1);
  WindowChanges known;
  for (size_t next = 0; next < items.size();) {
    const size_t end = std::min(items.size(), next + 1 + (*random)() % 20);
    size_t count = known.end();
    while (count < changes.size() && changes[count].ticks < items[end - 1].ticks) ++count;
    if (count > known.end() && (*random)() % 2 == 0) --count;
    while (known.end() < count)
      known.Append(changes[known.end()].ticks, changes[known.end()].starts);
    encoder->Begin(&stream, 1, next, &known);
    for (; next < end; ++next) {
      encoder->Add({items[next].ticks, 0, MakeWord(items[next].kind, items[next].id, 1)}, nullptr);
    }
    ASSERT_EQ(0, encoder->Finish(sink));
  }
}

// As above, with windows that other threads start and stop, which this thread's items do not show;
// between a stop and a start the reader ignores it. With `burst` more changes than a page keeps.
void CompareBesideChanges(uint32_t seed, bool burst) {
  std::mt19937 random(seed);
  std::vector<Item> items;
  std::vector<Change> changes;
  for (uint32_t i = 1; i <= 400; ++i) {
    const uint32_t dice = random() % 100;
    const uint32_t name = 1 + random() % 3;
    const uint64_t ticks = 1000 * i;
    if (dice < 45) {
      items.push_back({kOperationEnter, name, ticks});
    } else if (dice < 85) {
      items.push_back({kOperationExit, name, ticks});
    } else {
      items.push_back({kTask, static_cast<uint32_t>(random() % 3), ticks});
    }
    const uint32_t some = random() % 10 != 0 ? 0 : burst ? 1 + random() % 90 : 1;
    for (uint32_t j = 1; j <= some; ++j) {
      changes.push_back({ticks + 2 * j, changes.size() % 2 == 1});
    }
  }
  MemoryTrace trace;
  trace.Process();
  EncodeBesideChanges(items, changes, &random, trace.sink());
  const std::vector<Decoded> decoded = ReadThread(*trace.Trace());
  ASSERT_EQ(decoded.size(), items.size());
  std::vector<std::pair<uint32_t, uint32_t>> by_name, by_file;  // task, name
  Closing name_closes(&by_name), file_closes(&by_file);
  size_t change = 0;
  bool recording = true;
  for (size_t i = 0; i < items.size(); ++i) {
    for (; change < changes.size() && changes[change].ticks < items[i].ticks; ++change) {
      recording = changes[change].starts;
      by_name.clear();
      by_file.clear();
    }
    if (!recording) continue;
    name_closes.Apply(items[i].kind, items[i].id);
    file_closes.Apply(decoded[i].kind, decoded[i].id);
    ASSERT_EQ(by_name, by_file) << "seed " << seed << ", item " << i;
  }
}

TEST(Encoder, ExitsMeanTheSameWhateverOtherThreadsDoToTheWindow) {
  for (uint32_t seed = 0; seed < 400; ++seed) CompareBesideChanges(seed, /*burst=*/false);
}

TEST(Encoder, ExitsMeanTheSameAfterMoreChangesThanAreKept) {
  for (uint32_t seed = 0; seed < 400; ++seed) CompareBesideChanges(seed, /*burst=*/true);
}

TEST(Encoder, ASnapshotHoldsNothingThatAWindowClosed) {
  MemorySink sink;
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;
  stream.Reset(1);
  WindowChanges changes;
  encoder->Begin(&stream, 1, 0, &changes);
  encoder->Add({100, 0, MakeWord(kOperationEnter, 7, 1)}, nullptr);
  ASSERT_EQ(0, encoder->Finish(&sink));
  const size_t first = sink.bytes();
  changes.Append(110, false);
  changes.Append(120, true);
  encoder->Begin(&stream, 1, 1, &changes);
  encoder->Add({130, 0, MakeWord(kOperationEnter, 8, 1)}, nullptr);
  ASSERT_EQ(0, encoder->Finish(&sink));
  CpuHeader header;
  std::vector<OpenOperation> open;
  ASSERT_TRUE(ParseCpuHeader(sink.data() + first + 16, sink.bytes() - first - 16, &header));
  ASSERT_TRUE(DecodeOpen(header, &open));
  EXPECT_EQ(header.task, 0u) << "all that is open is known";
  EXPECT_TRUE(open.empty());
}

}  // namespace
}  // namespace rlscope::trace
