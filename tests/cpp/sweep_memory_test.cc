// Floods: what the memory of a sweep must not grow with, and results that are still right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "analysis/sweep/trace_source.h"
#include "counted_memory.h"
#include "memory_trace.h"
#include "sweep_process.h"
#include "trace/write/message.h"

namespace rlscope::analysis {
namespace {

using tests::MemoryPeak;

constexpr size_t kMost = 8 << 20;
constexpr int64_t kFlood = 1000000;

// Items that are made as they are read; `make` gives the next of `count`.
class MadeItems : public CpuSource {
 public:
  using Make = std::function<MemoryItem(int64_t)>;
  MadeItems(int64_t count, Make make) : count_(count), make_(std::move(make)) {}

  const trace::CpuBatch* Next() override {
    if (at_ == count_) return nullptr;
    columns_ = {};
    for (size_t i = 0; i < kMemoryBatch && at_ < count_; ++i) columns_.Add(make_(at_++));
    batch_.count = static_cast<uint32_t>(columns_.time_ns.size());
    batch_.time_ns = columns_.time_ns.data();
    batch_.what = columns_.what.data();
    batch_.call_end_ns = columns_.call_end_ns.data();
    return &batch_;
  }

 private:
  const int64_t count_;
  const Make make_;
  int64_t at_ = 0;
  CpuColumns columns_;
  trace::CpuBatch batch_;
};

// The main thread has events at the two ends of the process, 0 and kEnd; another one the flood.
class SweepMemoryTest : public ::testing::Test {
 protected:
  static constexpr int64_t kEnd = 4 * kFlood;

  SweepMemoryTest() {
    CpuColumns items;
    items.Add({0, trace::kOperationEnter, a});
    items.Add({1, trace::kOperationExit, a});
    items.Add({kEnd, trace::kOperationEnter, a});
    process.AddThread(std::move(items));
  }

  void AddFlood(int64_t count, MadeItems::Make make) {
    ThreadInput thread;
    thread.thread = 2;
    thread.os_tid = 2;
    thread.is_python = true;
    thread.first_ns = make(0).time_ns;
    thread.weight = static_cast<uint64_t>(count);
    thread.open_items = [count, make] { return std::make_unique<MadeItems>(count, make); };
    process.input()->threads.push_back(std::move(thread));
  }

  // Time of the operation in the process view; fails when the sweep took much memory.
  int64_t SweepFor(const std::string& operation) {
    const MemoryPeak peak;
    result = Sweep(*process.input(), {});
    EXPECT_LT(peak.bytes(), kMost);
    int64_t sum_ns = 0, found_ns = 0;
    for (const BreakdownRow& row : result->process.rows().slots()) {
      if (row.key == 0) continue;
      sum_ns += row.duration_ns;
      if (result->paths.Text(PathOfRow(row.row())) == operation) found_ns += row.duration_ns;
    }
    EXPECT_EQ(sum_ns, kEnd);
    return found_ns;
  }

  uint64_t Calls() const {
    uint64_t calls = 0;
    for (const NativeCallRow& row : result->counts.native_calls().slots()) calls += row.calls;
    return calls;
  }

  MemoryProcess process{0, kEnd};
  const uint32_t a = process.AddName(trace::NameKind::kOperation, "a");
  const uint32_t b = process.AddName(trace::NameKind::kOperation, "b");
  const uint32_t f = process.AddName(trace::NameKind::kFunction, "f", trace::Layer::kPython);
  std::unique_ptr<SweepResult> result;
};

TEST_F(SweepMemoryTest, OutermostOperationsBetweenTwoEvents) {
  AddFlood(2 * kFlood, [this](int64_t i) {
    const uint32_t kind = i % 2 == 0 ? trace::kOperationEnter : trace::kOperationExit;
    return MemoryItem{2 * i + 2, kind, b};
  });
  // The last exit is at kEnd.
  EXPECT_EQ(SweepFor("b"), 2 * kFlood);
  EXPECT_EQ(result->paths.node(kFirstPath + 1).instances, uint64_t{kFlood});
}

TEST_F(SweepMemoryTest, OutermostOperationsAtOneInstant) {
  AddFlood(2 * kFlood, [this](int64_t i) {
    return MemoryItem{2, i % 2 == 0 ? trace::kOperationEnter : trace::kOperationExit, b};
  });
  EXPECT_EQ(SweepFor("b"), 0);
  EXPECT_EQ(result->paths.node(kFirstPath + 1).instances, uint64_t{kFlood});
}

// Every task enters and leaves an operation of its own, and is never seen again.
TEST_F(SweepMemoryTest, TaskSwitchesBetweenTwoEvents) {
  AddFlood(3 * kFlood, [this](int64_t i) {
    const int64_t now = 2 + i;
    if (i % 3 == 0) return MemoryItem{now, trace::kTask, static_cast<uint32_t>(1 + i / 3)};
    return MemoryItem{now, i % 3 == 1 ? trace::kOperationEnter : trace::kOperationExit, b};
  });
  EXPECT_EQ(SweepFor("b"), kFlood);
}

// Calls in the layer where the thread is already change nothing but counts.
TEST_F(SweepMemoryTest, CallsThatChangeNoLayer) {
  AddFlood(kFlood, [this](int64_t i) { return MemoryItem{3 * i + 2, trace::kCall, f, 3 * i + 4}; });
  EXPECT_EQ(SweepFor("a"), 1);
  EXPECT_EQ(Calls(), uint64_t{kFlood});
}

TEST_F(SweepMemoryTest, CallsAtOneInstant) {
  AddFlood(kFlood, [this](int64_t) { return MemoryItem{2, trace::kCall, f, 2}; });
  EXPECT_EQ(SweepFor("a"), 1);
  EXPECT_EQ(Calls(), uint64_t{kFlood});
}

// A program's reports of progress are kept, in a file.
TEST(ProcessItemsTest, ManyReportsOfProgressStayOutOfMemory) {
  constexpr uint64_t kReports = 200000;
  trace::MemoryTrace made;
  made.Process().Thread(1, 100);
  const auto bits = [](double value) {
    uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    return raw;
  };
  std::vector<trace::Item> items;
  for (uint64_t i = 0; i < kReports; ++i) {
    items.push_back({trace::kProgressTotal, 0, 10 + i, 0, bits(kReports)});
    items.push_back({trace::kProgressDone, 0, 10 + i, 0, bits(static_cast<double>(i))});
  }
  made.Items(1, items);
  const auto trace = made.Trace();
  const MemoryPeak peak;
  const ProcessInput input =
      MakeInput(*trace, 5, 10 + kReports, ProcessInput::kUnknownTime, ProcessInput::kUnknownTime);
  EXPECT_TRUE(input.process_items.in_file());
  const auto result = Sweep(input, {});
  EXPECT_LT(peak.bytes(), kMost);
  const SpillVector<ProgressRow>& progress = result->history.progress();
  EXPECT_TRUE(progress.in_file());
  ASSERT_EQ(progress.size(), kReports);
  for (uint64_t i = 0; i < kReports; ++i) {
    ASSERT_EQ(progress[i].start_ns, static_cast<int64_t>(10 + i));
    ASSERT_EQ(progress[i].done, static_cast<double>(i));
    ASSERT_EQ(progress[i].total, static_cast<double>(kReports));
  }
}

// Its checksum holds, but its columns say otherwise than its header.
void AppendUndecodable(trace::MemoryTrace* made, uint32_t thread, uint64_t first_slot) {
  trace::Message message(made->buffer());
  message.Varint(1, thread);
  message.Varint(2, thread);
  message.Varint(3, first_slot);
  message.Varint(4, 1);              // slots
  message.Fixed64(5, 20);            // base_ticks
  message.Varint(6, 1);              // count
  const uint8_t step = 2, what = 7;  // a dictionary has no entry 7
  message.end() = base::PutBytesField(message.end(), 7, &step, 1);
  message.end() = base::PutBytesField(message.end(), 8, &what, 1);
  message.Fixed64(15, 21);  // last_ticks
  ASSERT_EQ(message.Append(made->sink(), trace::FrameType::kCpu), 0);
}

TEST(UndecodableChunksTest, OfAThreadThatHasNothingElseAreCounted) {
  trace::MemoryTrace made;
  made.Process().Name(1, "a").Thread(1, 100).Thread(2, 101);
  made.Items(1, {{trace::kOperationEnter, 1, 10}, {trace::kOperationExit, 1, 30}});
  AppendUndecodable(&made, 2, 0);
  AppendUndecodable(&made, 1, 2);
  const auto trace = made.Trace();
  const ProcessInput input =
      MakeInput(*trace, 5, 50, ProcessInput::kUnknownTime, ProcessInput::kUnknownTime);
  ASSERT_EQ(input.threads.size(), 1u);
  EXPECT_EQ(input.threads[0].thread, 1u);
  EXPECT_EQ(Sweep(input, {})->losses.undecodable_chunks, 2u);
}

}  // namespace
}  // namespace rlscope::analysis
