#include "read_everything.h"

#include <stdio.h>
#include <stdlib.h>

#include <memory>
#include <vector>

#include "analysis/cuda/cuda_relations.h"
#include "analysis/events/instances.h"
#include "analysis/events/intervals.h"
#include "analysis/idle/idle_times.h"
#include "analysis/sweep/sweep.h"
#include "analysis/sweep/trace_source.h"
#include "trace/directory/process_images.h"
#include "trace/read/cursor.h"
#include "trace/read/process_log_reader.h"
#include "trace/read/process_trace.h"
#include "trace/read/reader.h"
#include "trace/read/stack_tree.h"

namespace rlscope::trace {
namespace {

void Check(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "broken promise: %s\n", what);
  abort();
}

// Times of a stream, seen one after the other.
class Timeline {
 public:
  void Take(int64_t start_ns, int64_t end_ns) {
    Check(start_ns >= last_ns_, "times of a stream never decrease");
    Check(end_ns >= start_ns, "nothing ends before it starts");
    last_ns_ = end_ns;
  }

 private:
  int64_t last_ns_ = INT64_MIN;
};

void ReadItems(const ProcessTrace& trace, size_t thread) {
  ThreadCursor cursor(trace, thread);
  Timeline timeline;
  while (const CpuBatch* batch = cursor.Next()) {
    uint32_t calls = 0, values = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
      const uint32_t kind = WhatKind(batch->what[i]);
      int64_t end_ns = batch->time_ns[i];
      if (kind == kCall) end_ns = batch->call_end_ns[calls++];
      if (HasTwoSlots(kind)) sum += batch->value[values++];
      timeline.Take(batch->time_ns[i], end_ns);
    }
    Check(calls == batch->calls && values == batch->values, "one entry per item that has one");
    Check(batch->begins_after_gap || batch->open.empty(), "a snapshot comes only after a gap");
  }
}

void ReadCudaCalls(const ProcessTrace& trace, size_t thread) {
  CudaCallCursor cursor(trace, thread);
  Timeline timeline;
  while (const CudaCallBatch* batch = cursor.Next()) {
    for (uint32_t i = 0; i < batch->count; ++i) timeline.Take(batch->start_ns[i], batch->end_ns[i]);
  }
}

void ReadGpu(const ProcessTrace& trace, size_t stream) {
  GpuCursor cursor(trace, stream);
  int64_t last_ns = INT64_MIN;
  while (const GpuBatch* batch = cursor.Next()) {
    for (uint32_t i = 0; i < batch->count; ++i) {
      Check(batch->start_ns[i] >= last_ns, "starts of a GPU stream never decrease");
      Check(batch->end_ns[i] >= batch->start_ns[i], "no interval ends before it starts");
      last_ns = batch->start_ns[i];
    }
  }
}

void ReadStacks(const ProcessTrace& trace) {
  const StackTree tree(trace.stacks());
  for (const auto& [number, entry] : tree.nodes()) {
    const StackNode* const node = tree.Find(number);
    if (node == nullptr) continue;
    Check(node->parent < number, "a caller has a lower number");
    Check(node->parent == 0 || tree.Find(node->parent) != nullptr, "the callers are known");
    Check(tree.FunctionOf(*node) != nullptr, "the function is known");
  }
}

void ReadTrace(const ProcessTrace& trace) {
  ReadStacks(trace);
  for (size_t i = 0; i < trace.threads().size(); ++i) {
    ReadItems(trace, i);
    ReadCudaCalls(trace, i);
  }
  for (size_t i = 0; i < trace.gpu_streams().size(); ++i) ReadGpu(trace, i);
  int64_t last_ns = INT64_MIN;
  for (const TimedProcessItem& item : trace.ReadProcessItems()) {
    Check(item.time_ns >= last_ns, "process items are sorted");
    last_ns = item.time_ns;
  }
  for (const Name& name : trace.names()) Check(trace.FindName(name.id) == &name, "names by id");
  trace.CountEvents();
}

// Intervals of native calls, one by one.
class SummedCalls : public analysis::IntervalSink {
 public:
  void Add(const analysis::RecordedInterval& interval) override {
    if (interval.kind != analysis::IntervalKind::kCall) return;
    ++calls;
    duration_ns += interval.duration_ns;
  }
  uint64_t calls = 0;
  int64_t duration_ns = 0;
};

void CheckCalls(const analysis::ProcessInput& input, const analysis::CallCounts& counts) {
  SummedCalls found;
  analysis::OperationPaths paths(input.names, input.most_paths);
  analysis::FindIntervals(input, &paths, &found);
  SummedCalls expected;
  for (const analysis::NativeCallRow& row : counts.native_calls().slots()) {
    if (row.key == 0) continue;
    expected.calls += row.calls;
    expected.duration_ns += row.duration_ns;
  }
  Check(found.calls == expected.calls, "calls one by one are as many as counted");
  Check(found.duration_ns == expected.duration_ns, "calls one by one last as long");
}

// Entries into operations, one by one.
class LastingInstances : public analysis::InstanceRowSink {
 public:
  void Add(const analysis::OperationInstance& instance, int64_t iteration) override {
    Check(instance.end_ns >= instance.start_ns, "an operation does not end before it begins");
    Check(iteration >= -1, "iterations are numbered");
  }
};

void CheckInstances(const analysis::ProcessInput& input) {
  LastingInstances found;
  analysis::OperationPaths paths(input.names, input.most_paths);
  analysis::FindInstances(input, &paths, &found);
}

void CheckReasons(const analysis::ProcessInput& input, const analysis::LoopSpan& loop,
                  int64_t whole_ns) {
  int64_t sum_ns = 0;
  const auto found = analysis::FindIdle(input, loop, /*seen=*/nullptr);
  for (const analysis::IdleRow& row : found->rows.slots()) {
    if (row.key != 0) sum_ns += row.duration_ns;
  }
  Check(input.saved ? sum_ns <= whole_ns : sum_ns == whole_ns, "times by reason add up");
}

// As `rlscope summary` does.
void Analyze(const ProcessImage& image) {
  const analysis::ProcessInput input = analysis::MakeInput(image);
  const analysis::TimeRange range = analysis::FindRange(image);
  const auto swept = analysis::Sweep(input, {});
  int64_t sum_ns = 0;
  for (const analysis::BreakdownRow& row : swept->process.rows().slots()) {
    if (row.key != 0) sum_ns += row.duration_ns;
  }
  Check(sum_ns == range.end_ns - range.start_ns, "times of a process add up");
  CheckCalls(input, swept->counts);
  CheckInstances(input);
  analysis::FindCuda(input);
  CheckReasons(input, swept->process.stages().span(), sum_ns);
  analysis::FindLives(image);
}

}  // namespace

void CheckImages(const std::vector<ProcessImage>& images) {
  for (size_t i = 0; i < images.size(); ++i) {
    Check(images[i].end_ns >= images[i].start_ns, "a process does not end before it starts");
    Check(images[i].parent_index < static_cast<int64_t>(i), "parents come first");
    if (images[i].trace != nullptr) ReadTrace(*images[i].trace);
  }
}

void AnalyzeImages(const std::vector<ProcessImage>& images) {
  for (const ProcessImage& image : images) Analyze(image);
}

void ReadEverything(const uint8_t* data, size_t size) {
  std::vector<std::unique_ptr<ProcessTrace>> traces;
  std::unique_ptr<TraceFile> file;
  if (TraceFile::FromBytes({data, data + size}, "bytes", &file).ok()) {
    std::vector<std::unique_ptr<TraceFile>> files;
    files.push_back(std::move(file));
    // Twice: what a file and a ring share.
    if (TraceFile::FromBytes({data, data + size}, "again", &file).ok()) {
      files.push_back(std::move(file));
    }
    traces.push_back(std::make_unique<ProcessTrace>(std::move(files)));
  }
  std::vector<Problem> problems;
  const std::vector<ProcessRecord> log = ParseProcessLog(data, size, "log", &problems);
  const auto images =
      BuildProcessImages(log, std::move(traces), [](const ProcessImage&) { return false; });
  CheckImages(images);
  AnalyzeImages(images);
}

}  // namespace rlscope::trace
