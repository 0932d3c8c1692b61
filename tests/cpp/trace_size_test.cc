// What records cost on disk, everything included: names, headers, clock pairs. Bytes do not depend
// on the machine, and what these traces are made of was measured (CartPole, one AMD core).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "memory_trace.h"
#include "trace/format/tick_unit.h"
#include "trace/read/cursor.h"

namespace rlscope::trace {
namespace {

constexpr uint64_t kTscHz = 2445000000;

// A program on a clock of its own, whose durations scatter around a median.
class Program {
 public:
  // As often as not below the median; nine in ten within a factor of e^(1.65 spread) of it.
  uint32_t Lasts(double median_us, double spread = 0.3) {
    const double us = median_us * std::exp(spread * normal_(random_));
    return static_cast<uint32_t>(us * kTscHz / 1e6);
  }
  void Wait(double median_us, double spread = 0.3) { now_ += Lasts(median_us, spread); }
  void Record(uint32_t kind, uint32_t id = 0, uint64_t value = 0) {
    items_.push_back({kind, id, now_, 0, value});
  }
  void Operation(uint32_t id, double median_us) {
    Wait(6, 1);
    Record(kOperationEnter, id);
    Wait(median_us);
    Record(kOperationExit, id);
  }
  void Call(uint32_t id) {
    Wait(0.7, 1.56);
    const uint32_t duration = Lasts(1.8, 1.59);
    items_.push_back({kCall, id, now_, duration});
    now_ += duration;
  }
  uint32_t Below(uint32_t limit) { return random_() % limit; }

  const std::vector<Item>& items() const { return items_; }

 private:
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
  uint64_t now_ = UINT64_C(1) << 50;
  std::vector<Item> items_;
};

// A clock pair before each chunk, as a drainer writes it.
double BytesPerEvent(const Program& program, MemoryTrace* trace) {
  const std::vector<Item>& items = program.items();
  for (size_t at = 0; at < items.size(); at += kChunkItems) {
    const size_t end = std::min(items.size(), at + kChunkItems);
    trace->Clock({{items[at].ticks >> 1, static_cast<int64_t>(at)}});
    trace->Items(1,
                 {items.begin() + static_cast<long>(at), items.begin() + static_cast<long>(end)});
  }
  const double bytes = static_cast<double>(trace->bytes().size());
  return bytes / static_cast<double>(trace->Trace()->CountEvents().Sum());
}

void Begin(MemoryTrace* trace) {
  trace->TickShift(TickShift(kTscHz)).Process(base::ClockKind::kTsc, 100, 5, kTscHz);
  trace->Thread(1, 100, "MainThread");
}

TEST(TraceSize, AnAnnotatedTrainingRunTakesLessThanEightBytesAnEvent) {
  MemoryTrace trace;
  Begin(&trace);
  enum : uint32_t { kInference = 1, kSimulation, kAdvantage, kForward, kBackprop, kOptimizer };
  trace.Name(kInference, "inference").Name(kSimulation, "simulation");
  trace.Name(kAdvantage, "advantage").Name(kForward, "forward");
  trace.Name(kBackprop, "backprop").Name(kOptimizer, "optimizer");
  trace.Name(7, "data_collection", NameKind::kPhase).Name(8, "training", NameKind::kPhase);
  Program program;
  for (uint64_t iteration = 0; iteration < 284; ++iteration) {
    program.Record(kIteration);
    program.Record(kProgressTotal, 0, UINT64_C(0x4071c00000000000));
    program.Record(kProgressDone, 0, UINT64_C(0x4000000000000000) + (iteration << 44));
    program.Record(kPhase, 7);
    for (int step = 0; step < 128; ++step) {
      program.Operation(kInference, 450);
      program.Operation(kSimulation, 350);
    }
    program.Record(kPhase, 0);
    program.Operation(kAdvantage, 9000);
    program.Record(kPhase, 8);
    for (int minibatch = 0; minibatch < 32; ++minibatch) {
      program.Operation(kForward, 900);
      program.Operation(kBackprop, 1100);
      program.Operation(kOptimizer, 700);
    }
    program.Record(kPhase, 0);
  }
  const double bytes_per_event = BytesPerEvent(program, &trace);
  RecordProperty("bytes_per_event", std::to_string(bytes_per_event));
  EXPECT_GE(trace.Trace()->CountEvents().Sum(), 100000u);
  EXPECT_LE(bytes_per_event, 7.3);
}

TEST(TraceSize, OperationsInNoOrderTakeAtMostEightBytesEach) {
  MemoryTrace trace;
  Begin(&trace);
  for (uint32_t id = 1; id <= 12; ++id) trace.Name(id, "operation_" + std::to_string(id));
  Program program;
  for (int i = 0; i < 50000; ++i) {
    const uint32_t outer = 1 + program.Below(6), inner = 7 + program.Below(6);
    program.Wait(150);
    program.Record(kOperationEnter, outer);
    program.Operation(inner, 150);
    program.Wait(150);
    program.Record(kOperationExit, outer);
  }
  const double bytes_per_event = BytesPerEvent(program, &trace);
  RecordProperty("bytes_per_event", std::to_string(bytes_per_event));
  EXPECT_LE(bytes_per_event, 8.0);
}

// A loop of 200 calls of 90 functions, one in ten of them another each time.
TEST(TraceSize, ANativeCallTakesAtMostFiveBytes) {
  constexpr uint32_t kFunctions = 90, kLoop = 200;
  MemoryTrace trace;
  Begin(&trace);
  for (uint32_t id = 1; id <= kFunctions; ++id) {
    trace.Name(id, "torch._C:function_" + std::to_string(id), NameKind::kFunction,
               Layer::kFramework);
  }
  Program program;
  std::vector<uint32_t> loop(kLoop);
  for (uint32_t& function : loop) function = 1 + program.Below(kFunctions);
  for (uint32_t call = 0; call < 100000; ++call) {
    const bool same = program.Below(10) != 0;
    program.Call(same ? loop[call % kLoop] : 1 + program.Below(kFunctions));
  }
  const double bytes_per_event = BytesPerEvent(program, &trace);
  RecordProperty("bytes_per_event", std::to_string(bytes_per_event));
  EXPECT_LE(bytes_per_event, 5.0);
}

// Bits that no nanosecond shows are dropped once, from what is compared and converted alike.
TEST(TraceSize, EveryTimeOfAFastClockIsInTheUnitOfTheFile) {
  MemoryTrace trace;
  trace.TickShift(1).Process(base::ClockKind::kTsc, 100, 5, 2000000000);
  trace.Clock({{500, 1000}});
  trace.Items(1, {{kOperationEnter, 1, 1001},
                  {kCall, 2, 2003, 1000},
                  {kCall, 2, 3003, 1},
                  {kIteration, 0, 4001},
                  {kWait, 0, 5001, 0, 99},
                  {kOperationExit, 1, 6001}});
  const auto process = trace.Trace();
  ThreadCursor cursor(*process, 0);
  const CpuBatch* batch = cursor.Next();
  ASSERT_NE(batch, nullptr);
  EXPECT_THAT(std::vector<int64_t>(batch->time_ns, batch->time_ns + batch->count),
              testing::ElementsAre(1000, 1501, 2001, 2500, 3000, 3500));
  EXPECT_THAT(std::vector<int64_t>(batch->call_end_ns, batch->call_end_ns + 2),
              testing::ElementsAre(2001, 2002));
  EXPECT_EQ(batch->value[0], 49u);
  ASSERT_EQ(process->ReadProcessItems().size(), 1u);
  EXPECT_EQ(process->ReadProcessItems()[0].time_ns, 2500);
}

TEST(TraceSize, TheUnitOfTimeIsBelowANanosecond) {
  EXPECT_EQ(TickShift(0), 0u);
  EXPECT_EQ(TickShift(25000000), 0u);
  EXPECT_EQ(TickShift(1000000000), 0u);
  EXPECT_EQ(TickShift(1999999999), 0u);
  EXPECT_EQ(TickShift(2000000000), 1u);
  EXPECT_EQ(TickShift(kTscHz), 1u);
  EXPECT_EQ(TickShift(4000000000), 2u);
  EXPECT_EQ(TickShift(UINT64_MAX), kMaxTickShift);
}

}  // namespace
}  // namespace rlscope::trace
