#include "good_files.h"

#include <gtest/gtest.h>
#include <string.h>

#include <random>

#include "../cpp/memory_trace.h"
#include "base/crc32c.h"
#include "trace/layout/shared_pages.h"
#include "trace/write/interval_chunks.h"

namespace rlscope::trace {
namespace {

// A training loop: nested operations, calls, callbacks, tasks, phases, progress, a gap.
std::vector<Item> TrainingLoop(uint32_t items, uint64_t ticks, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Item> loop = {{kThreadBegin, 1, ticks}, {kWindowStart, 0, ticks + 1}};
  while (loop.size() < items) {
    ticks += 100 + random() % 100000;
    const uint32_t kinds[] = {kOperationEnter, kOperationExit, kOperationEnter, kOperationExit,
                              kCall,           kCallBegin,     kCallbackBegin,  kCallbackEnd,
                              kCallEnd,        kTask,          kPhase,          kIteration,
                              kProgressTotal,  kProgressDone,  kWait,           kGap,
                              kAutoSegment,    kAutoResolve,   kProbe,          kProbeRecord,
                              kShortWaits};
    const uint32_t kind = kinds[random() % (sizeof kinds / sizeof kinds[0])];
    const uint32_t duration =
        kind == kCall || IsOfProbe(kind) ? static_cast<uint32_t>(random() % 100) : 0;
    loop.push_back({kind, static_cast<uint32_t>(random() % 20), ticks, duration, random()});
  }
  return loop;
}

void AddIntervals(MemoryTrace* trace) {
  std::vector<CudaCall> calls;
  std::vector<GpuInterval> intervals;
  for (uint32_t i = 0; i < 50; ++i) {
    calls.push_back({100000 + 1000 * i, 500, 8, 7 + i, i % 5 == 0, 1, i % 4 * 20});
    intervals.push_back({70000 + 900 * i, 1200, GpuKind::kKernel, 8, 7 + i, i % 3 * 64});
  }
  EXPECT_EQ(0, WriteCudaCalls(trace->sink(), trace->buffer(), 1, 40, 0, 100, calls.data(), 50));
  EXPECT_EQ(0, WriteGpu(trace->sink(), trace->buffer(), {0, 1, 7}, intervals.data(), 50));
  EXPECT_EQ(0, WriteGpu(trace->sink(), trace->buffer(), {0, 1, 7}, intervals.data() + 20, 20));
}

// Stacks of 60 functions, and readings of both threads.
void AddStacks(MemoryTrace* trace) {
  std::vector<FunctionFields> functions;
  std::vector<NodeFields> nodes;
  std::vector<int64_t> times_ns;
  std::vector<uint32_t> ends, stack_ends;
  std::vector<uint32_t> awake;
  std::vector<ThreadStack> stacks;
  for (uint32_t i = 0; i < 60; ++i) {
    functions.push_back({{"train.py", 8}, {"step", i % 5}, i});
    nodes.push_back({i / 2, 1 + i % 60, 10 * i});
    times_ns.push_back(60000 + 30000 * i);
    awake.push_back(1 + i % 2);
    ends.push_back(i + 1);
    stacks.insert(stacks.end(), {{1, i}, {2, 60 - i}});
    stack_ends.push_back(2 * (i + 1));
  }
  EXPECT_EQ(0, WriteStacks(trace->sink(), trace->buffer(),
                           {1, functions.data(), 60, 1, nodes.data(), 60}));
  for (NodeFields& node : nodes) {  // the same stacks made CUDA calls
    node.parent += node.parent == 0 ? 0 : kFirstSite;
    node.function += kFirstSite;
  }
  EXPECT_EQ(0,
            WriteStacks(trace->sink(), trace->buffer(),
                        {kFirstSite + 1, functions.data(), 60, kFirstSite + 1, nodes.data(), 60}));
  EXPECT_EQ(0, WriteStates(trace->sink(), trace->buffer(),
                           {times_ns.data(), ends.data(), awake.data(), 60, stack_ends.data(),
                            stacks.data()}));
}

std::vector<uint8_t> WholeRun(uint32_t items, uint32_t seed) {
  MemoryTrace trace;
  trace.TickShift(1)
      .Process(base::ClockKind::kTsc, 4242, 50000, 2400000000)
      .Clock({{100000, 50000}, {5000000, 2100000}});
  for (uint32_t id = 1; id < 20; ++id) trace.Name(id, "name_" + std::to_string(id));
  trace.Thread(1, 4242, "main").Thread(2, 4243, "worker");
  trace.Items(1, TrainingLoop(items, 100000, seed)).Items(2, TrainingLoop(items, 150000, seed + 1));
  AddIntervals(&trace);
  AddStacks(&trace);
  trace.Items(1, {{kThreadEnd, 0, UINT64_C(1) << 40}}).Clock({{UINT64_C(1) << 41, 1 << 30}});
  return trace.End(1 << 30).bytes();
}

std::vector<uint8_t> ProcessLog() {
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < 8; ++i) {
    ProcessRecord record = {};
    record.magic = kProcessRecordMagic;
    record.version = kAbiVersion;
    record.event = static_cast<uint16_t>(1 + i % 4);
    record.pid = 100 + i / 3;
    record.parent_pid = 100;
    record.began_ns = 10 + i / 3;
    record.time_ns = 10 + i;
    strcpy(record.name, "python");
    record.crc = base::Crc32c(0, &record, sizeof record);
    const auto* data = reinterpret_cast<const uint8_t*>(&record);
    bytes.insert(bytes.end(), data, data + sizeof record);
  }
  return bytes;
}

}  // namespace

std::vector<std::pair<std::string, std::vector<uint8_t>>> GoodFiles() {
  MemoryTrace process_only;
  return {{"small.rls", WholeRun(12, 1)},
          {"run.rls", WholeRun(400, 2)},
          {"large.rls", WholeRun(9000, 3)},
          {"process_only.rls", process_only.Process().bytes()},
          {"processes.log", ProcessLog()}};
}

}  // namespace rlscope::trace
