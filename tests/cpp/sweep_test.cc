// Rules of the sweep, one small process each: input and expected rows on one screen.
#include "analysis/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/events/instances.h"
#include "analysis/views/overlap.h"
#include "sweep_process.h"

namespace rlscope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using Rows = std::vector<std::string>;

// A process 0..100 with operations a, b, phase p, simulator call s, framework call f.
class SweepTest : public ::testing::Test {
 protected:
  static CpuColumns Items(const std::vector<MemoryItem>& items) {
    CpuColumns columns;
    for (const MemoryItem& item : items) columns.Add(item);
    return columns;
  }
  static IntervalColumns Intervals(const std::vector<MemoryInterval>& intervals) {
    IntervalColumns columns;
    for (const MemoryInterval& each : intervals) columns.Add(each.start_ns, each.end_ns);
    return columns;
  }
  static MemoryItem Enter(int64_t t, uint32_t id) { return {t, trace::kOperationEnter, id}; }
  static MemoryItem Exit(int64_t t, uint32_t id) { return {t, trace::kOperationExit, id}; }
  static MemoryItem Call(int64_t start, int64_t end, uint32_t id) {
    return {start, trace::kCall, id, end};
  }

  std::unique_ptr<SweepResult> Run(uint32_t buckets = 0) {
    SweepOptions options;
    options.buckets = buckets;
    return Sweep(*process.input(), options);
  }

  // "phase a/b python" or "... +gpu", then duration and count.
  static std::string Text(const SweepResult& result, uint32_t phase, uint32_t path, uint32_t layer,
                          bool busy, int64_t duration_ns, uint64_t count) {
    std::string text = phase == 0 ? "" : result.history.phase_names()[phase] + " ";
    text += result.paths.Text(path) + " " + trace::kLayerNames[LayerOfRank(layer)] +
            (busy ? "+gpu" : "");
    return text + " " + std::to_string(duration_ns) + " x" + std::to_string(count);
  }

  static Rows Breakdown(const SweepResult& result) {
    Rows rows;
    int64_t sum_ns = 0;
    for (const BreakdownRow& row : result.process.rows().slots()) {
      if (row.key == 0) continue;
      sum_ns += row.duration_ns;
      rows.push_back(Text(result, row.phase(), PathOfRow(row.row()), LayerOfRow(row.row()),
                          IsBusyRow(row.row()), row.duration_ns, row.count));
    }
    EXPECT_EQ(sum_ns, result.history.end_ns() - result.history.start_ns());
    return rows;
  }

  static Rows OfThread(const SweepResult& result, uint32_t thread) {
    Rows rows;
    result.threads->ForEachRow([&](uint32_t of, uint32_t phase, uint32_t path, uint32_t layer,
                                   bool busy, int64_t duration_ns, uint64_t count) {
      if (of == thread) rows.push_back(Text(result, phase, path, layer, busy, duration_ns, count));
    });
    return rows;
  }

  Rows Instances() {
    static const char* const kEnded[] = {"exit", "window", "process_end", "thread_end", "gap"};
    struct Collected : InstanceRowSink {
      void Add(const OperationInstance& instance, int64_t) override { all.push_back(instance); }
      std::vector<OperationInstance> all;
    } found;
    OperationPaths paths(process.input()->names, process.input()->most_paths);
    FindInstances(*process.input(), &paths, &found);
    Rows rows;
    for (const OperationInstance& it : found.all) {
      rows.push_back(paths.Text(it.path) + " " + std::to_string(it.start_ns) + ".." +
                     std::to_string(it.end_ns) + " self " + std::to_string(it.self_ns) + " " +
                     kEnded[static_cast<int>(it.ended)]);
    }
    return rows;
  }

  MemoryProcess process{0, 100};
  const uint32_t a = process.AddName(trace::NameKind::kOperation, "a");
  const uint32_t b = process.AddName(trace::NameKind::kOperation, "b");
  const uint32_t p = process.AddName(trace::NameKind::kPhase, "p");
  const uint32_t s =
      process.AddName(trace::NameKind::kFunction, "env:step", trace::Layer::kSimulator);
  const uint32_t f =
      process.AddName(trace::NameKind::kFunction, "torch:matmul", trace::Layer::kFramework);
};

TEST_F(SweepTest, ProcessWithoutRecordsIsOneRow) {
  EXPECT_THAT(Breakdown(*Run()), ElementsAre("(none) none 100 x1"));
}

TEST_F(SweepTest, InnermostOperationOwnsTheTime) {
  process.AddThread(Items({Enter(10, a), Enter(30, b), Exit(40, b), Exit(70, a)}));
  EXPECT_THAT(Breakdown(*Run()), UnorderedElementsAre("(none) none 10 x1", "(none) python 30 x1",
                                                      "a python 50 x2", "a/b python 10 x1"));
  EXPECT_THAT(Instances(), ElementsAre("a/b 30..40 self 10 exit", "a 10..70 self 50 exit"));
}

TEST_F(SweepTest, ExitOutOfOrderLeavesThoseAboveOpen) {
  process.AddThread(Items({Enter(0, a), Enter(20, b), Exit(50, a), Exit(80, b), Exit(90, b)}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result),
              UnorderedElementsAre("a python 20 x1", "a/b python 60 x1", "(none) python 20 x1"));
  EXPECT_EQ(result->losses.exit_out_of_order, 1);
  EXPECT_EQ(result->losses.exit_without_enter, 1);
}

TEST_F(SweepTest, ReentryKeepsThePath) {
  process.AddThread(Items({Enter(0, a), Enter(10, a), Exit(20, a), Exit(100, a)}));
  EXPECT_THAT(Breakdown(*Run()), ElementsAre("a python 100 x1"));
  EXPECT_THAT(Instances(), ElementsAre("a 10..20 self 10 exit", "a 0..100 self 90 exit"));
}

TEST_F(SweepTest, SuspendedTaskOwnsNothing) {
  process.AddThread(Items({Enter(0, a),
                           {10, trace::kTask, 1},
                           Enter(10, b),
                           {40, trace::kTask, 0},
                           {60, trace::kTask, 1},
                           Exit(70, b),
                           Exit(100, a)}));
  EXPECT_THAT(Breakdown(*Run()), UnorderedElementsAre("a python 60 x3", "a/b python 40 x2"));
  EXPECT_THAT(Instances(), ElementsAre("a/b 10..70 self 40 exit", "a 0..100 self 60 exit"));
}

TEST_F(SweepTest, LayersFollowCallsCallbacksAndCuda) {
  process.AddThread(Items({Enter(0, a),
                           {10, trace::kCallBegin, f},
                           {30, trace::kCallbackBegin},
                           Call(32, 36, s),
                           {40, trace::kCallbackEnd},
                           {50, trace::kCallEnd},
                           Exit(100, a)}),
                    Intervals({{15, 20}}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result), UnorderedElementsAre("a python 66 x4", "a framework 25 x3",
                                                       "a cuda_api 5 x1", "a simulator 4 x1"));
  const uint32_t path = kFirstPath;
  EXPECT_EQ(result->counts.transitions(path, kPythonRank, kFrameworkRank, IterationKind::kNone), 1);
  EXPECT_EQ(result->counts.transitions(path, kFrameworkRank, kCudaApiRank, IterationKind::kNone),
            1);
  EXPECT_EQ(result->counts.transitions(path, kFrameworkRank, kPythonRank, IterationKind::kNone), 1);
  EXPECT_EQ(result->counts.transitions(path, kPythonRank, kSimulatorRank, IterationKind::kNone), 1);
  for (const NativeCallRow& row : result->counts.native_calls().slots()) {
    if (row.key == 0) continue;
    EXPECT_EQ(row.calls, 1);
    EXPECT_EQ(row.duration_ns, row.function() == f ? 40 : 4);
    EXPECT_EQ(row.self_ns, row.function() == f ? 25 : 4);
  }
}

// Main owns while it has an operation, then the thread that began first. Threads without one add
// layers.
TEST_F(SweepTest, OwnerIsMainElseTheFirstToBegin) {
  process.AddThread(Items({Enter(0, a), Exit(40, a)}));
  process.AddThread(Items({Enter(20, b), Call(25, 80, f), Exit(80, b)}));
  process.AddThread(Items({Enter(10, a), Exit(60, a), Call(70, 75, s)}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result),
              UnorderedElementsAre("a python 60 x1", "b framework 20 x1", "(none) python 20 x1"));
  EXPECT_THAT(OfThread(*result, 1),
              UnorderedElementsAre("b python 5 x1", "b framework 55 x1", "(none) python 20 x1"));
}

TEST_F(SweepTest, CallOfThreadWithoutOperationIsTheOwners) {
  process.AddThread(Items({Enter(0, a), Exit(50, a)}));
  process.AddThread(Items({Call(10, 30, f)}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result),
              UnorderedElementsAre("a python 30 x2", "a framework 20 x1", "(none) python 50 x1"));
  for (const NativeCallRow& row : result->counts.native_calls().slots()) {
    EXPECT_EQ(row.key == 0 ? "a" : result->paths.Text(row.path()), "a");
  }
}

TEST_F(SweepTest, GpuBusyIsTheUnionOfAllStreams) {
  process.AddThread(Items({Enter(0, a), Exit(100, a)}));
  process.AddGpuStream(Intervals({{10, 30}, {20, 25}, {30, 40}}));
  process.AddGpuStream(Intervals({{35, 50}, {90, 200}}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result), UnorderedElementsAre("a python 50 x2", "a python+gpu 50 x2"));
  EXPECT_THAT(OfThread(*result, 0), UnorderedElementsAre("a python 50 x2", "a python+gpu 50 x2"));
}

TEST_F(SweepTest, PhasesSplitOperations) {
  process.AddThread(Items({Enter(0, a),
                           {30, trace::kPhase, p},
                           {60, trace::kPhase, 0},
                           {70, trace::kPhase, p},
                           Exit(100, a)}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result), UnorderedElementsAre("a python 40 x2", "p a python 60 x2"));
  EXPECT_THAT(OfThread(*result, 0), UnorderedElementsAre("a python 40 x2", "p a python 60 x2"));
  EXPECT_THAT(Instances(), ElementsAre("a 0..100 self 100 exit"));
}

TEST_F(SweepTest, NothingIsOpenAcrossAGapBetweenWindows) {
  process.AddThread(Items({Enter(10, a),
                           {40, trace::kWindowStop},
                           Exit(50, a),
                           {60, trace::kWindowStart},
                           Exit(70, a),
                           {90, trace::kWindowStop}}));
  process.AddGpuStream(Intervals({{30, 65}}));
  const auto result = Run();
  EXPECT_EQ(result->history.end_ns(), 90);
  EXPECT_THAT(Breakdown(*result),
              UnorderedElementsAre("(none) none 10 x1", "a python 20 x1", "a python+gpu 10 x1",
                                   "(not recorded) none 20 x1", "(none) python+gpu 5 x1",
                                   "(none) python 25 x1"));
  EXPECT_THAT(
      OfThread(*result, 0),
      UnorderedElementsAre("a python 20 x1", "a python+gpu 10 x1", "(not recorded) none 20 x1",
                           "(none) python+gpu 5 x1", "(none) python 25 x1"));
  EXPECT_THAT(Instances(), ElementsAre("a 10..40 self 30 window"));
  EXPECT_EQ(result->losses.exit_without_enter, 1);
}

TEST_F(SweepTest, ThreadEndAndLostRecordsCloseWhatIsOpen) {
  process.AddThread(Items({Enter(0, a), {20, trace::kGap}, Enter(30, b), {50, trace::kThreadEnd}}));
  EXPECT_THAT(Breakdown(*Run()), UnorderedElementsAre("a python 20 x1", "(none) python 10 x1",
                                                      "b python 20 x1", "(none) none 50 x1"));
  EXPECT_THAT(Instances(), ElementsAre("a 0..20 self 20 gap", "b 30..50 self 20 thread_end"));
}

TEST_F(SweepTest, ZeroLengthInstancesCountWithoutTime) {
  process.AddThread(Items({Enter(0, a), Enter(50, b), Exit(50, b), Exit(100, a)}));
  const auto result = Run();
  EXPECT_THAT(Breakdown(*result), ElementsAre("a python 100 x1"));
  EXPECT_EQ(result->paths.node(kFirstPath + 1).instances, 1);
}

TEST_F(SweepTest, BucketsSplitAtTheirEdges) {
  process.AddThread(Items({Enter(0, a), Exit(60, a)}));
  const auto result = Run(/*buckets=*/4);
  EXPECT_EQ(result->grid.bucket_ns, 32);
  Rows rows;
  for (const PartRow& row : result->timeline[0]) {
    rows.push_back(std::to_string(row.part) + " " + result->paths.Text(PathOfRow(row.row)) + " " +
                   std::to_string(row.duration_ns));
  }
  EXPECT_THAT(rows, ElementsAre("0 a 32", "1 (none) 4", "1 a 28", "2 (none) 32", "3 (none) 4"));
  int64_t sum_ns = 0;
  for (const PartRow& row : result->timeline[3]) sum_ns += row.duration_ns;
  EXPECT_EQ(sum_ns, 100);
}

TEST_F(SweepTest, TooManyPathsGoToOther) {
  MemoryProcess crowded(0, 4 * kMaxPaths);
  CpuColumns items;
  for (uint32_t i = 0; i < kMaxPaths + 2; ++i) {
    const uint32_t id = crowded.AddName(trace::NameKind::kOperation, std::to_string(i));
    items.Add(Enter(2 * i, id));
    items.Add(Exit(2 * i + 1, id));
  }
  crowded.AddThread(std::move(items));
  const auto result = Sweep(*crowded.input(), {});
  EXPECT_EQ(result->losses.paths, 2);
  EXPECT_EQ(result->paths.node(kOtherPath).instances, 2);
}

// What the GPU does at the very time at which a thread changes begins a stretch once.
TEST_F(SweepTest, ThreadStretchesBeginOnceWhereTheGpuChangesToo) {
  process.AddThread(Items({Enter(0, a), Exit(40, a)}));
  process.AddGpuStream(Intervals({{40, 60}}));
  Rows rows;
  Run()->threads->ForEachRow([&](uint32_t, uint32_t, uint32_t path, uint32_t, bool busy,
                                 int64_t duration_ns, uint64_t count) {
    rows.push_back((path == kNoPath ? "(none)" : "a") + std::string(busy ? "+gpu " : " ") +
                   std::to_string(duration_ns) + " x" + std::to_string(count));
  });
  EXPECT_THAT(rows, UnorderedElementsAre("a 40 x1", "(none) 40 x1", "(none)+gpu 20 x1"));
}

TEST_F(SweepTest, GpuStreamsThatMeetAreOneStretch) {
  process.AddThread(Items({Enter(0, a)}));
  process.AddGpuStream(Intervals({{10, 20}, {30, 40}}));
  process.AddGpuStream(Intervals({{20, 30}}));
  EXPECT_THAT(Breakdown(*Run()), UnorderedElementsAre("a python 70 x2", "a python+gpu 30 x1"));
}

// Counts stand beside durations in one number between flushes, which must not run over.
TEST_F(SweepTest, MillionsOfStretchesAreCounted) {
  const int64_t calls = 300000;
  MemoryProcess busy(0, 4 * calls);
  const uint32_t function = busy.AddName(trace::NameKind::kFunction, "f", trace::Layer::kFramework);
  CpuColumns items;
  for (int64_t i = 0; i < calls; ++i) items.Add(Call(4 * i, 4 * i + 3, function));
  busy.AddThread(std::move(items));
  EXPECT_THAT(
      Breakdown(*Sweep(*busy.input(), {})),
      UnorderedElementsAre("(none) framework 900000 x300000", "(none) python 300000 x300000"));
}

// 200 threads, 137 s an epoch: three hours are many epochs, and nothing is lost between them.
TEST_F(SweepTest, TracesLongerThanAnEpochAddUp) {
  const int64_t hour_ns = int64_t{3600} * 1000000000;
  MemoryProcess lengthy(0, 3 * hour_ns);
  const uint32_t id = lengthy.AddName(trace::NameKind::kOperation, "a");
  for (int i = 0; i < 200; ++i) {
    lengthy.AddThread(Items({Enter(i, id), Exit(hour_ns, id), Enter(2 * hour_ns, id)}));
  }
  const auto result = Sweep(*lengthy.input(), {});
  EXPECT_THAT(Breakdown(*result),
              UnorderedElementsAre("a python 7200000000000 x2", "(none) python 3600000000000 x1"));
}

TEST(OverlapTest, SetsHaveDurationsAndExtents) {
  const auto rows = FindOverlap({{{3, 7}, {8, 10}}, {{1, 4}, {6, 9}}, {{2, 5}, {7, 8}, {11, 12}}});
  std::vector<std::string> texts;
  for (const OverlapRow& row : rows) {
    std::string text;
    for (uint32_t stream : row.streams) text += "ABC"[stream];
    texts.push_back(text + " " + std::to_string(row.duration_ns) + " " +
                    std::to_string(row.start_ns) + ".." + std::to_string(row.end_ns));
  }
  EXPECT_THAT(texts, UnorderedElementsAre("A 2 5..10", "B 1 1..2", "C 1 11..12", "AB 2 6..9",
                                          "AC 1 4..5", "BC 2 2..8", "ABC 1 3..4"));
}

}  // namespace
}  // namespace rlscope::analysis
