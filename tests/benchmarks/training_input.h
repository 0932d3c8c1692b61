// A training loop as the input of a sweep in memory.
#ifndef RLSCOPE_TESTS_BENCHMARKS_TRAINING_INPUT_H_
#define RLSCOPE_TESTS_BENCHMARKS_TRAINING_INPUT_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "../cpp/sweep_process.h"
#include "trace/write/chunks.h"
#include "training_loop.h"

namespace rlscope::benchmarks {

// Items of a thread: calls contain nothing but CUDA calls, which are a stream of their own.
inline analysis::CpuColumns MakeItems(const Stream& stream, uint32_t simulator, uint32_t framework,
                                      bool phases) {
  analysis::CpuColumns items;
  std::vector<size_t> open;
  const auto close_until = [&](int64_t now) {
    while (!open.empty() && stream.end_ns[open.back()] <= now) {
      items.Add({stream.end_ns[open.back()], trace::kOperationExit, stream.operation[open.back()]});
      open.pop_back();
    }
  };
  for (size_t i = 0; i < stream.start_ns.size(); ++i) {
    close_until(stream.start_ns[i]);
    if (stream.layer[i] != kOperation) {
      const uint32_t id = stream.layer[i] == kSimulator ? simulator : framework;
      items.Add({stream.start_ns[i], trace::kCall, id, stream.end_ns[i]});
      continue;
    }
    if (phases && open.empty()) {
      items.Add({stream.start_ns[i], trace::kPhase, framework + 1 + stream.operation[i] / 5});
      items.Add({stream.start_ns[i], trace::kIteration, 0});
    }
    items.Add({stream.start_ns[i], trace::kOperationEnter, stream.operation[i]});
    open.push_back(i);
  }
  close_until(INT64_MAX);
  return items;
}

inline analysis::IntervalColumns MakeIntervals(const Stream& stream) {
  analysis::IntervalColumns columns;
  columns.start_ns = stream.start_ns;
  columns.end_ns = stream.end_ns;
  columns.kind.assign(stream.start_ns.size(), static_cast<uint32_t>(trace::GpuKind::kKernel));
  return columns;
}

struct Names {
  std::vector<trace::Name> all;
  uint32_t simulator;
  uint32_t framework;
};

inline Names MakeNames() {
  Names names;
  const auto add = [&](trace::NameKind kind, trace::Layer layer, const char* text) {
    const uint32_t id = static_cast<uint32_t>(names.all.size() + 1);
    names.all.push_back({id, static_cast<uint32_t>(kind), static_cast<uint32_t>(layer), text});
    return id;
  };
  for (const char* text : kOperations) {
    add(trace::NameKind::kOperation, trace::Layer::kNone, text);
  }
  names.simulator = add(trace::NameKind::kFunction, trace::Layer::kSimulator, "env:step");
  names.framework = add(trace::NameKind::kFunction, trace::Layer::kFramework, "torch:call");
  add(trace::NameKind::kPhase, trace::Layer::kNone, "data_collection");
  add(trace::NameKind::kPhase, trace::Layer::kNone, "training");
  return names;
}

inline std::unique_ptr<analysis::MemoryProcess> MakeProcess(const TrainingLoop& made,
                                                            const Names& names) {
  auto process = std::make_unique<analysis::MemoryProcess>(kStartNs, made.end_ns());
  process->input()->names = names.all;
  for (int i = 0; i < 3; ++i) {
    process->AddThread(MakeItems(made.streams()[i], names.simulator, names.framework, i == 0),
                       MakeIntervals(made.streams()[3 + i]));
  }
  for (int i = 6; i < 9; ++i) process->AddGpuStream(MakeIntervals(made.streams()[i]));
  return process;
}

}  // namespace rlscope::benchmarks

#endif  // RLSCOPE_TESTS_BENCHMARKS_TRAINING_INPUT_H_
