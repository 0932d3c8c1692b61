#include "analysis/sweep/trace_source.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "analysis/keys/key.h"
#include "analysis/process/history.h"
#include "analysis/sweep/sweep.h"
#include "trace/layout/record.h"
#include "trace/read/cursor.h"
#include "trace/read/decoder.h"

namespace rlscope::analysis {
namespace {

class CpuFromTrace : public CpuSource {
 public:
  CpuFromTrace(const trace::ProcessTrace& process, size_t index,
               const trace::CursorPlace& from = {})
      : cursor_(process, index, from) {}
  const trace::CpuBatch* Next() override { return cursor_.Next(); }
  uint64_t clamped() const override { return cursor_.clamped(); }
  uint64_t undecodable_chunks() const override { return cursor_.undecodable_chunks(); }
  trace::CursorPlace before() const override { return cursor_.before(); }
  trace::CursorPlace after() const override { return cursor_.after(); }

 private:
  trace::ThreadCursor cursor_;
};

class CudaFromTrace : public CudaCallSource {
 public:
  CudaFromTrace(const trace::ProcessTrace& process, size_t index, trace::Detail detail)
      : cursor_(process, index, detail) {}
  const trace::CudaCallBatch* Next() override { return cursor_.Next(); }
  uint64_t clamped() const override { return cursor_.clamped(); }
  uint64_t undecodable_chunks() const override { return cursor_.undecodable_chunks(); }

 private:
  trace::CudaCallCursor cursor_;
};

class GpuFromTrace : public GpuSource {
 public:
  GpuFromTrace(const trace::ProcessTrace& process, size_t index, trace::Detail detail)
      : cursor_(process, index, detail) {}
  const trace::GpuBatch* Next() override { return cursor_.Next(); }
  uint64_t undecodable_chunks() const override { return cursor_.undecodable_chunks(); }

 private:
  trace::GpuCursor cursor_;
};

const trace::RolledUpThread* FindRolledUp(const trace::ProcessTrace& process, size_t index) {
  const trace::RolledUp* const rolled_up = process.rolled_up();
  if (rolled_up == nullptr) return nullptr;
  return rolled_up->FindThread(process.threads()[index].thread.thread);
}

// The time of the first item or CUDA call; kNever if nothing can be decoded. Counts the chunks on
// the way there that could not.
int64_t FindFirst(const trace::ProcessTrace& process, size_t index, uint64_t* undecodable_chunks) {
  const trace::RolledUpThread* const rolled_up = FindRolledUp(process, index);
  if (rolled_up != nullptr && rolled_up->first_ns != kNever) return rolled_up->first_ns;
  int64_t first_ns = kNever;
  trace::ThreadCursor items(process, index);
  while (const trace::CpuBatch* batch = items.Next()) {
    if (batch->count == 0) continue;
    first_ns = batch->time_ns[0];
    break;
  }
  trace::CudaCallCursor calls(process, index, trace::Detail::kTimes);
  while (const trace::CudaCallBatch* batch = calls.Next()) {
    if (batch->count == 0) continue;
    first_ns = std::min(first_ns, batch->start_ns[0]);
    break;
  }
  *undecodable_chunks += items.undecodable_chunks() + calls.undecodable_chunks();
  return first_ns;
}

// kThreadEnd is the last thing a thread records, so it stands in its last chunk.
int64_t FindThreadEnd(const trace::ProcessTrace& process, size_t index) {
  const trace::RolledUpThread* const rolled_up = FindRolledUp(process, index);
  if (rolled_up != nullptr && rolled_up->ended_ns != kNever) return rolled_up->ended_ns;
  const trace::ThreadChunks& chunks = process.threads()[index];
  if (chunks.cpu.empty()) return kNever;
  const trace::CpuChunkRef& last = chunks.cpu.back();
  trace::CpuHeader header;
  trace::CpuColumns columns;
  if (!trace::ParseCpuHeader(last.payload, last.size, &header)) return kNever;
  if (!trace::DecodeCpu(header, &columns)) return kNever;
  for (uint32_t i = 0; i < columns.count; ++i) {
    if (trace::WhatKind(columns.what[i]) == trace::kThreadEnd) {
      return process.clock().ToNs(columns.ticks[i]);
    }
  }
  return kNever;
}

// Those in chunks of which wanted(chunk) is true.
template <class Wanted>
void AppendItems(const trace::ProcessTrace& process, const trace::ThreadChunks& chunks,
                 uint32_t first_order, Wanted wanted, SpillVector<ProcessItem>* items) {
  std::vector<trace::ProcessItem> of_chunk;
  uint32_t order = first_order;
  for (const trace::CpuChunkRef& chunk : chunks.cpu) {
    of_chunk.clear();
    trace::CpuHeader header;
    if (!wanted(chunk)) continue;
    if (trace::ParseCpuHeader(chunk.payload, chunk.size, &header)) {
      trace::AppendProcessItems(header, &of_chunk);
    }
    for (const trace::ProcessItem& item : of_chunk) {
      items->push_back({process.clock().ToNs(item.ticks), item.value, item.kind, item.id,
                        chunks.thread.thread, order++});
    }
  }
}

void CarryItems(trace::Archive* archive, SpillVector<ProcessItem>* items) {
  const size_t count = archive->Count(items->size());
  for (size_t i = 0; i < count && archive->ok(); ++i) {
    ProcessItem item = archive->reads() ? ProcessItem() : (*items)[i];
    archive->Time(&item.time_ns);
    archive->Number(&item.value);
    archive->Number(&item.kind);
    archive->Number(&item.id);
    archive->Number(&item.thread);
    archive->Number(&item.order);
    if (archive->reads() && archive->ok()) items->push_back(item);
  }
}

// Found without decoding the items of the threads. A program may record millions of them. Those of
// the rolled-up part come from `saved`, if there is one, which then goes on after them.
template <class Wanted>
SpillVector<ProcessItem> ReadItemsOf(const trace::ProcessTrace& process, Wanted wanted,
                                     std::optional<trace::Archive>* saved) {
  SpillVector<ProcessItem> items;
  if (process.rolled_up() != nullptr) {
    saved->emplace(process.saved());
    CarryItems(&**saved, &items);
    if (!(*saved)->ok()) saved->reset();
  }
  const uint32_t first_order = static_cast<uint32_t>(items.size());
  for (const trace::ThreadChunks& chunks : process.threads()) {
    AppendItems(process, chunks, first_order, wanted, &items);
  }
  std::sort(items.begin(), items.end(), [](const ProcessItem& a, const ProcessItem& b) {
    return std::tie(a.time_ns, a.thread, a.order) < std::tie(b.time_ns, b.thread, b.order);
  });
  return items;
}

SpillVector<ProcessItem> ReadProcessItems(const trace::ProcessTrace& process,
                                          std::optional<trace::Archive>* saved) {
  return ReadItemsOf(process, [](const trace::CpuChunkRef&) { return true; }, saved);
}

// What a first window leaves out was left out of the rest, too: it begins there.
void GoOnFromSaved(const trace::ProcessTrace& process, ProcessInput* input) {
  if (process.rolled_up() == nullptr) return;
  const History history(input->start_ns, input->end_ns, input->process_items, input->names);
  const bool is_before = process.rolled_up()->until_ns <= history.start_ns();
  input->saved_until_ns = process.rolled_up()->until_ns;
  const bool goes_on = !is_before && input->saved && CanGoOn(*input);
  if (goes_on) return;
  input->saved.reset();
  input->saved_until_ns = INT64_MIN;
  input->undecodable_chunks += !is_before;
}

uint64_t CountItems(const trace::ThreadChunks& chunks) {
  uint64_t items = 0;
  for (const trace::CpuChunkRef& chunk : chunks.cpu) items += chunk.count;
  for (const trace::CudaChunkRef& chunk : chunks.cuda) items += 2 * chunk.count;
  return items;
}

void AddThread(const trace::ProcessTrace& process, size_t index, ProcessInput* input) {
  const trace::ThreadChunks& chunks = process.threads()[index];
  ThreadInput thread;
  uint64_t undecodable_chunks = 0;
  thread.first_ns = FindFirst(process, index, &undecodable_chunks);
  if (thread.first_ns == kNever) {
    input->undecodable_chunks += undecodable_chunks;
    return;
  }
  thread.thread = chunks.thread.thread;
  thread.os_tid = chunks.thread.os_tid;
  thread.is_python = chunks.thread.is_python;
  thread.weight = CountItems(chunks);
  const trace::RolledUpThread* const rolled_up = FindRolledUp(process, index);
  const bool had_items = rolled_up != nullptr && rolled_up->first_ns != kNever;
  if (!chunks.cpu.empty() || had_items) {
    thread.open_items = [&process, index] {
      return std::make_unique<CpuFromTrace>(process, index);
    };
    thread.resume_items = [&process, index](const trace::CursorPlace& from) {
      return std::make_unique<CpuFromTrace>(process, index, from);
    };
  }
  if (!chunks.cuda.empty()) {
    thread.open_cuda_calls = [&process, index](trace::Detail detail) {
      return std::make_unique<CudaFromTrace>(process, index, detail);
    };
  }
  input->threads.push_back(std::move(thread));
}

void AddGpuStream(const trace::ProcessTrace& process, size_t index, ProcessInput* input) {
  const trace::GpuStream& stream = process.gpu_streams()[index];
  if (stream.chunks.empty()) return;
  GpuInput gpu;
  gpu.device = stream.device;
  gpu.context = stream.context;
  gpu.stream = stream.stream;
  gpu.first_ns = stream.chunks.front().min_start_ns;
  for (const trace::GpuChunkRef& chunk : stream.chunks) gpu.weight += 2 * chunk.count;
  gpu.open = [&process, index](trace::Detail detail) {
    return std::make_unique<GpuFromTrace>(process, index, detail);
  };
  input->gpu.push_back(std::move(gpu));
}

// Without the names of phases.
History FindHistory(const trace::ProcessImage& image) {
  std::optional<trace::Archive> saved;
  SpillVector<ProcessItem> items;
  if (image.trace != nullptr) items = ReadProcessItems(*image.trace, &saved);
  return History(image.start_ns, image.end_ns, items, {});
}

}  // namespace

ProcessInput MakeInput(const trace::ProcessTrace& process, int64_t start_ns, int64_t end_ns,
                       int64_t python_begin_ns, int64_t python_end_ns) {
  ProcessInput input;
  input.start_ns = start_ns;
  input.end_ns = std::max(start_ns, end_ns);
  input.main_os_tid = process.info().os_pid;
  input.python_begin_ns = python_begin_ns;
  input.python_end_ns = python_end_ns;
  input.names = process.names();
  for (size_t i = 0; i < process.threads().size(); ++i) AddThread(process, i, &input);
  for (size_t i = 0; i < process.gpu_streams().size(); ++i) AddGpuStream(process, i, &input);
  input.states = process.states();
  input.stacks = process.stacks();
  input.process_items = ReadProcessItems(process, &input.saved);
  GoOnFromSaved(process, &input);
  return input;
}

ProcessInput MakeInput(const trace::ProcessImage& image) {
  static_assert(trace::kUnknownNs == ProcessInput::kUnknownTime);
  if (image.trace != nullptr) {
    return MakeInput(*image.trace, image.start_ns, image.end_ns, image.python_begin_ns,
                     image.python_end_ns);
  }
  ProcessInput input;
  input.start_ns = image.start_ns;
  input.end_ns = std::max(image.start_ns, image.end_ns);
  input.main_os_tid = image.os_pid;
  return input;
}

TimeRange FindRange(const trace::ProcessImage& image) {
  const History history = FindHistory(image);
  return {history.start_ns(), history.end_ns()};
}

SpillVector<IterationRow> FindIterations(const trace::ProcessImage& image) {
  return FindHistory(image).TakeIterations();
}

std::vector<ThreadLife> FindLives(const trace::ProcessImage& image) {
  std::vector<ThreadLife> lives;
  if (image.trace == nullptr) return lives;
  const TimeRange range = FindRange(image);
  bool main_found = false;
  for (size_t i = 0; i < image.trace->threads().size(); ++i) {
    const trace::ThreadChunks& chunks = image.trace->threads()[i];
    uint64_t undecodable_chunks = 0;
    int64_t start_ns = FindFirst(*image.trace, i, &undecodable_chunks);
    if (start_ns == kNever) continue;
    if (!main_found && chunks.thread.os_tid == image.os_pid) {
      main_found = true;
      if (image.python_begin_ns != trace::kUnknownNs) {
        start_ns = std::min(start_ns, image.python_begin_ns);
      }
    }
    start_ns = std::clamp(start_ns, range.start_ns, range.end_ns);
    const int64_t end_ns = FindThreadEnd(*image.trace, i);
    lives.push_back({chunks.thread, start_ns, std::clamp(end_ns, start_ns, range.end_ns)});
  }
  return lives;
}

ProcessInput MakeUnfinishedInput(const trace::ProcessImage& image) {
  const bool is_over = image.ended == trace::Ended::kExit || image.ended == trace::Ended::kGone;
  ProcessInput input = MakeInput(*image.trace, image.start_ns, is_over ? image.end_ns : kLatestNs,
                                 image.python_begin_ns, image.python_end_ns);
  input.unfinished = true;
  return input;
}

void CarryItemsOf(const trace::ProcessTrace& process, const IsWantedChunk& wanted,
                  trace::Archive* archive) {
  std::optional<trace::Archive> saved;
  SpillVector<ProcessItem> items = ReadItemsOf(process, wanted, &saved);
  CarryItems(archive, &items);
}

trace::RolledUpThread FindRolledUpThread(const trace::ProcessTrace& process, size_t index) {
  uint64_t undecodable_chunks = 0;
  return {process.threads()[index].thread.thread, FindFirst(process, index, &undecodable_chunks),
          FindThreadEnd(process, index)};
}

}  // namespace rlscope::analysis
