#include "python/trace_module/items.h"

#include "trace/format/what.h"
#include "trace/layout/record.h"
#include "trace/read/cursor.h"

namespace rlscope::python {
namespace {

constexpr size_t kNoThread = SIZE_MAX;

size_t FindThread(const trace::ProcessTrace* process, uint32_t thread) {
  if (process == nullptr) return kNoThread;
  for (size_t i = 0; i < process->threads().size(); ++i) {
    if (process->threads()[i].thread.thread == thread) return i;
  }
  return kNoThread;
}

bool HasValue(uint32_t kind) { return trace::HasTwoSlots(kind); }

}  // namespace

Columns MakeItems(const trace::ProcessTrace* process, uint32_t thread) {
  std::vector<int64_t> time_ns, duration_ns;
  std::vector<int32_t> kind, id;
  std::vector<uint64_t> value;
  const auto add = [&](const trace::CpuBatch& batch) {
    uint32_t calls = 0;
    uint32_t values = 0;
    uint32_t probes = 0;
    for (uint32_t i = 0; i < batch.count; ++i) {
      const uint32_t item = trace::WhatKind(batch.what[i]);
      time_ns.push_back(batch.time_ns[i]);
      kind.push_back(static_cast<int32_t>(item));
      id.push_back(static_cast<int32_t>(trace::WhatId(batch.what[i])));
      duration_ns.push_back(item == trace::kCall ? batch.call_end_ns[calls++] - batch.time_ns[i]
                                                 : 0);
      value.push_back(HasValue(item)           ? batch.value[values++]
                      : trace::IsOfProbe(item) ? batch.probe[probes++]
                                               : 0);
    }
  };
  const size_t index = FindThread(process, thread);
  if (index != kNoThread) {
    trace::ThreadCursor cursor(*process, index);
    while (const trace::CpuBatch* batch = cursor.Next()) add(*batch);
  }
  Columns columns;
  columns.Add("time_ns", std::move(time_ns));
  columns.Add("kind", std::move(kind));
  columns.Add("id", std::move(id));
  columns.Add("duration_ns", std::move(duration_ns));
  columns.Add("value", std::move(value));
  return columns;
}

Columns MakeCudaCalls(const trace::ProcessTrace* process, uint32_t thread) {
  std::vector<int64_t> start_ns, duration_ns, correlation;
  std::vector<int32_t> name, status, context;
  const size_t index = FindThread(process, thread);
  if (index != kNoThread) {
    trace::CudaCallCursor cursor(*process, index);
    while (const trace::CudaCallBatch* batch = cursor.Next()) {
      for (uint32_t i = 0; i < batch->count; ++i) {
        start_ns.push_back(batch->start_ns[i]);
        duration_ns.push_back(batch->end_ns[i] - batch->start_ns[i]);
        name.push_back(static_cast<int32_t>(batch->name[i]));
        correlation.push_back(batch->correlation[i]);
        status.push_back(static_cast<int32_t>(batch->status[i]));
        context.push_back(static_cast<int32_t>(batch->context[i]));
      }
    }
  }
  Columns columns;
  columns.Add("start_ns", std::move(start_ns));
  columns.Add("duration_ns", std::move(duration_ns));
  columns.Add("name", std::move(name));
  columns.Add("correlation", std::move(correlation));
  columns.Add("status", std::move(status));
  columns.Add("context", std::move(context));
  return columns;
}

Columns MakeGpuIntervals(const trace::ProcessTrace* process) {
  std::vector<int64_t> start_ns, duration_ns, correlation, bytes, grid, shared_memory;
  std::vector<int32_t> device, context, stream, kind, name, graph, block, registers, how;
  const auto add = [&](const trace::GpuStream& queue, const trace::GpuBatch& batch) {
    for (uint32_t i = 0; i < batch.count; ++i) {
      device.push_back(static_cast<int32_t>(queue.device));
      context.push_back(static_cast<int32_t>(queue.context));
      stream.push_back(static_cast<int32_t>(queue.stream));
      start_ns.push_back(batch.start_ns[i]);
      duration_ns.push_back(batch.end_ns[i] - batch.start_ns[i]);
      kind.push_back(static_cast<int32_t>(batch.kind[i]));
      name.push_back(static_cast<int32_t>(batch.name[i]));
      correlation.push_back(batch.correlation[i]);
      bytes.push_back(static_cast<int64_t>(batch.bytes[i]));
      graph.push_back(static_cast<int32_t>(batch.graph[i]));
      const trace::GpuDetail& detail = batch.detail[i];
      grid.push_back(static_cast<int64_t>(detail.grid));
      block.push_back(static_cast<int32_t>(detail.block));
      shared_memory.push_back(static_cast<int64_t>(detail.shared_memory));
      registers.push_back(detail.registers);
      how.push_back(detail.how);
    }
  };
  const size_t queues = process == nullptr ? 0 : process->gpu_streams().size();
  for (size_t i = 0; i < queues; ++i) {
    trace::GpuCursor cursor(*process, i);
    while (const trace::GpuBatch* batch = cursor.Next()) add(process->gpu_streams()[i], *batch);
  }
  Columns columns;
  columns.Add("device", std::move(device));
  columns.Add("context", std::move(context));
  columns.Add("stream", std::move(stream));
  columns.Add("start_ns", std::move(start_ns));
  columns.Add("duration_ns", std::move(duration_ns));
  columns.Add("kind", std::move(kind));
  columns.Add("name", std::move(name));
  columns.Add("correlation", std::move(correlation));
  columns.Add("bytes", std::move(bytes));
  columns.Add("graph", std::move(graph));
  columns.Add("grid", std::move(grid));
  columns.Add("block", std::move(block));
  columns.Add("shared_memory", std::move(shared_memory));
  columns.Add("registers", std::move(registers));
  columns.Add("how", std::move(how));
  return columns;
}

}  // namespace rlscope::python
