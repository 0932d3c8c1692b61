// A process in memory as the input of a sweep: what tests and benchmarks write by hand.
#ifndef RLSCOPE_TESTS_CPP_SWEEP_PROCESS_H_
#define RLSCOPE_TESTS_CPP_SWEEP_PROCESS_H_

#include <stdint.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/process/source.h"
#include "trace/format/name_kind.h"
#include "trace/layout/layer.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

struct MemoryItem {
  int64_t time_ns;
  uint32_t kind;
  uint32_t id = 0;
  int64_t end_ns = 0;  // kCall
};

struct MemoryInterval {
  int64_t start_ns;
  int64_t end_ns;
};

// Columns as the decoder makes them, all of a stream at once; given out in batches of a chunk.
struct CpuColumns {
  std::vector<int64_t> time_ns;
  std::vector<uint32_t> what;
  std::vector<int64_t> call_end_ns;

  void Add(const MemoryItem& item) {
    time_ns.push_back(item.time_ns);
    what.push_back(trace::MakeWhat(item.kind, item.id));
    if (item.kind == trace::kCall) call_end_ns.push_back(item.end_ns);
  }
};
struct IntervalColumns {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint32_t> kind;  // of GPU work; of a CUDA call its name, which is none

  void Add(int64_t start, int64_t end, trace::GpuKind gpu_kind = trace::GpuKind::kKernel) {
    start_ns.push_back(start);
    end_ns.push_back(end);
    kind.push_back(static_cast<uint32_t>(gpu_kind));
  }
};

constexpr size_t kMemoryBatch = 4096;

class CpuFromMemory : public CpuSource {
 public:
  explicit CpuFromMemory(const CpuColumns& columns) : columns_(columns) {}
  const trace::CpuBatch* Next() override {
    if (at_ == columns_.time_ns.size()) return nullptr;
    batch_.count = static_cast<uint32_t>(std::min(kMemoryBatch, columns_.time_ns.size() - at_));
    batch_.time_ns = columns_.time_ns.data() + at_;
    batch_.what = columns_.what.data() + at_;
    batch_.call_end_ns = columns_.call_end_ns.data() + calls_;
    for (uint32_t i = 0; i < batch_.count; ++i) {
      calls_ += trace::WhatKind(batch_.what[i]) == trace::kCall;
    }
    at_ += batch_.count;
    return &batch_;
  }

 private:
  const CpuColumns& columns_;
  size_t at_ = 0;
  size_t calls_ = 0;
  trace::CpuBatch batch_;
};

template <class Batch>
class IntervalsFromMemory : public Source<Batch> {
 public:
  explicit IntervalsFromMemory(const IntervalColumns& columns) : columns_(columns) {}
  const Batch* Next() override {
    if (at_ == columns_.start_ns.size()) return nullptr;
    batch_.count = static_cast<uint32_t>(std::min(kMemoryBatch, columns_.start_ns.size() - at_));
    batch_.start_ns = columns_.start_ns.data() + at_;
    batch_.end_ns = columns_.end_ns.data() + at_;
    SetKind(&batch_, columns_.kind.data() + at_);
    at_ += batch_.count;
    return &batch_;
  }

 private:
  static void SetKind(trace::GpuBatch* batch, const uint32_t* kind) { batch->kind = kind; }
  static void SetKind(trace::CudaCallBatch* batch, const uint32_t* kind) { batch->name = kind; }

  const IntervalColumns& columns_;
  size_t at_ = 0;
  Batch batch_;
};

// Owns the columns that the input's streams read.
class MemoryProcess {
 public:
  MemoryProcess(int64_t start_ns, int64_t end_ns) {
    input_.start_ns = start_ns;
    input_.end_ns = end_ns;
    input_.main_os_tid = kMainTid;
  }

  uint32_t AddName(trace::NameKind kind, const std::string& text,
                   trace::Layer layer = trace::Layer::kNone) {
    const uint32_t id = static_cast<uint32_t>(input_.names.size() + 1);
    input_.names.push_back({id, static_cast<uint32_t>(kind), static_cast<uint32_t>(layer), text});
    return id;
  }

  // The first thread is the main one. Items of the process are taken from its stream.
  void AddThread(CpuColumns items, IntervalColumns cuda_calls = {}, bool is_python = true) {
    ThreadInput thread;
    thread.thread = static_cast<uint32_t>(input_.threads.size() + 1);
    thread.os_tid = kMainTid + thread.thread - 1;
    thread.is_python = is_python;
    thread.weight = items.time_ns.size() + 2 * cuda_calls.start_ns.size();
    thread.first_ns = INT64_MAX;
    if (!items.time_ns.empty()) thread.first_ns = items.time_ns[0];
    if (!cuda_calls.start_ns.empty()) {
      thread.first_ns = std::min(thread.first_ns, cuda_calls.start_ns[0]);
    }
    AddProcessItems(thread.thread, items);
    auto cpu = std::make_shared<CpuColumns>(std::move(items));
    auto cuda = std::make_shared<IntervalColumns>(std::move(cuda_calls));
    thread.open_items = [cpu] { return std::make_unique<CpuFromMemory>(*cpu); };
    thread.open_cuda_calls = [cuda](trace::Detail) {
      return std::make_unique<IntervalsFromMemory<trace::CudaCallBatch>>(*cuda);
    };
    input_.threads.push_back(std::move(thread));
  }

  void AddGpuStream(IntervalColumns intervals) {
    GpuInput gpu;
    gpu.first_ns = intervals.start_ns[0];
    gpu.weight = 2 * intervals.start_ns.size();
    auto columns = std::make_shared<IntervalColumns>(std::move(intervals));
    gpu.open = [columns](trace::Detail) {
      return std::make_unique<IntervalsFromMemory<trace::GpuBatch>>(*columns);
    };
    input_.gpu.push_back(std::move(gpu));
  }

  ProcessInput* input() { return &input_; }

 private:
  static constexpr uint32_t kMainTid = 100;

  void AddProcessItems(uint32_t thread, const CpuColumns& items) {
    for (size_t i = 0; i < items.what.size(); ++i) {
      const uint32_t kind = trace::WhatKind(items.what[i]);
      if (kind != trace::kPhase && kind != trace::kIteration && kind != trace::kWindowStart &&
          kind != trace::kWindowStop) {
        continue;
      }
      input_.process_items.push_back(
          {items.time_ns[i], 0, kind, trace::WhatId(items.what[i]), thread});
    }
    std::stable_sort(input_.process_items.begin(), input_.process_items.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  }

  ProcessInput input_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_TESTS_CPP_SWEEP_PROCESS_H_
