#include "importers/process_writer.h"

#include <algorithm>

#include "trace/format/frame.h"
#include "trace/layout/record.h"

namespace rlscope::importers {

// ---- one thread ---------------------------------------------------------------------------------

void ThreadItems::BeginThread(uint32_t thread) {
  in_thread_ = true;
  thread_ = thread;
  reached_ns_ = INT64_MIN;
  file_->BeginItems(thread);
}

void ThreadItems::EndThread() {
  if (!in_thread_) return;
  EndUntil(INT64_MAX);
  file_->EndItems();
  PutCudaCalls();
  file_->EndThread(thread_);
  in_thread_ = false;
}

void ThreadItems::Put(uint32_t kind, int64_t time_ns, uint32_t id, int64_t duration_ns) {
  file_->AddItem(static_cast<uint64_t>(time_ns + shift_ns_), kind, id,
                 static_cast<uint64_t>(duration_ns), 0);
}

// A call that nothing begins or ends inside of is one item; others are two.
void ThreadItems::BeginPending(int64_t next_ns) {
  if (!has_pending_) return;
  has_pending_ = false;
  int64_t first_end_ns = operations_.empty() ? INT64_MAX : operations_.begin()->end_ns;
  const bool is_whole = next_ns >= pending_.end_ns && first_end_ns >= pending_.end_ns;
  if (is_whole) {
    const int64_t duration_ns = pending_.end_ns - pending_.start_ns;
    Put(trace::kCall, pending_.start_ns, pending_.name, duration_ns);
    return;
  }
  if (calls_.size() == kMostCalls) {  // what it holds lies inside of the one around it, too
    ++too_deep_;
    return;
  }
  Put(trace::kCallBegin, pending_.start_ns, pending_.name);
  calls_.push_back({pending_.end_ns, ++order_, false});
}

// Ends what has ended by then, in order of time: the operations may overlap as they like, the calls
// lie inside of each other.
void ThreadItems::EndUntil(int64_t time_ns) {
  BeginPending(time_ns);
  for (;;) {
    const bool has_call = !calls_.empty() && calls_.back().end_ns <= time_ns;
    const bool has_operation = !operations_.empty() && operations_.begin()->end_ns <= time_ns;
    if (!has_call && !has_operation) return;
    const bool call_first =
        has_call && (!has_operation ||
                     std::make_pair(calls_.back().end_ns, ~calls_.back().order) <
                         std::make_pair(operations_.begin()->end_ns, ~operations_.begin()->order));
    if (call_first) {
      EndCall(calls_.back().end_ns);
    } else {
      Put(trace::kOperationExit, operations_.begin()->end_ns, operations_.begin()->name);
      operations_.erase(operations_.begin());
    }
  }
}

void ThreadItems::EndCall(int64_t time_ns) {
  Put(calls_.back().is_callback ? trace::kCallbackEnd : trace::kCallEnd, time_ns, 0);
  calls_.pop_back();
}

void ThreadItems::Add(const ThreadRow& row) {
  if (row.kind == ThreadRowKind::kPython) return AddPython(row);
  if (in_thread_ && row.thread != thread_) EndThread();
  if (!in_thread_) BeginThread(row.thread);
  if (row.kind == ThreadRowKind::kCudaCall) return AddCudaCall(row);
  ThreadRow placed = row;
  if (placed.start_ns < reached_ns_) MoveTo(reached_ns_, &placed);
  EndUntil(placed.start_ns);
  switch (placed.kind) {
    case ThreadRowKind::kIteration:
      return Put(trace::kIteration, placed.start_ns, 0);
    case ThreadRowKind::kOperation:
      return AddOperation(placed);
    default:
      AddCall(placed);
  }
}

void ThreadItems::MoveTo(int64_t start_ns, ThreadRow* row) {
  row->start_ns = start_ns;
  row->end_ns = std::max(row->end_ns, start_ns);
  file_->CountClamped(1);
}

void ThreadItems::AddOperation(const ThreadRow& row) {
  if (operations_.size() == kMostOperations) {
    ++too_deep_;
    return;
  }
  Put(trace::kOperationEnter, row.start_ns, row.name);
  operations_.insert({row.end_ns, ++order_, row.name});
}

// A call lies inside of another one or after it. One that outlasts the other, as rounded times
// say, begins where that ends.
void ThreadItems::AddCall(const ThreadRow& row) {
  pending_ = row;
  while (!calls_.empty() && calls_.back().end_ns < pending_.end_ns) {
    if (calls_.back().is_callback) {  // the frames of Python say less than the calls
      EndCall(pending_.start_ns);
      continue;
    }
    MoveTo(calls_.back().end_ns, &pending_);
    EndUntil(pending_.start_ns);
  }
  reached_ns_ = pending_.start_ns;
  has_pending_ = true;
}

// Python inside of Python, and outside of native calls, is where the thread is anyway. Frames are
// followed by a tracer of their own: one that a call does not hold as a whole is left out.
void ThreadItems::AddPython(const ThreadRow& row) {
  if (!in_thread_ || row.thread != thread_ || row.start_ns < reached_ns_) return;
  EndUntil(row.start_ns);
  const bool in_call = !calls_.empty() && !calls_.back().is_callback;
  if (!in_call || row.end_ns <= row.start_ns || row.end_ns > calls_.back().end_ns) return;
  if (calls_.size() == kMostCalls) {
    ++too_deep_;
    return;
  }
  Put(trace::kCallbackBegin, row.start_ns, 0);
  calls_.push_back({row.end_ns, ++order_, true});
}

// They are a stream of their own, which the thread's items say nothing of.
void ThreadItems::AddCudaCall(const ThreadRow& row) {
  if (cuda_calls_.size() == trace::kChunkIntervals) PutCudaCalls();
  cuda_calls_.push_back({static_cast<uint64_t>(row.start_ns + shift_ns_),
                         static_cast<uint64_t>(row.end_ns - row.start_ns), row.name,
                         row.correlation, 0, 0});
}

void ThreadItems::PutCudaCalls() {
  file_->AddCudaCalls(thread_, cuda_calls_.data(), cuda_calls_.size());
  cuda_calls_.clear();
}

// ---- the process --------------------------------------------------------------------------------

void ProcessWriter::WriteNames(const NameTable& names) {
  names.Each([&](trace::NameKind kind, trace::Layer layer, std::string_view text) {
    file_->AddName(kind, std::string(text), layer);
  });
}

void ProcessWriter::WriteThreads(const std::vector<ImportedThread>& threads,
                                 RowMerge<ThreadRow>* rows) {
  for (uint32_t i = 0; i < threads.size(); ++i) {
    const ImportedThread& thread = threads[i];
    if (!thread.has_rows) continue;
    file_->AddThread(
        {i, thread.os_tid, thread.is_python, {thread.name.data(), thread.name.size()}});
  }
  ThreadItems items(file_, shift_ns_);
  for (ThreadRow row; rows->Next(&row);) items.Add(row);
  items.Finish();
  too_deep_ += items.too_deep();
}

void ProcessWriter::WriteGpu(const std::vector<ImportedStream>& streams, RowMerge<GpuRow>* rows) {
  constexpr size_t kMost = 1024;
  std::vector<trace::GpuInterval> intervals;
  uint32_t stream = 0;
  const auto put = [&] {
    if (intervals.empty()) return;
    const ImportedStream& of = streams[stream];
    file_->AddGpu({of.device, of.context, of.stream}, intervals.data(), intervals.size());
    intervals.clear();
  };
  for (GpuRow row; rows->Next(&row);) {
    if (row.stream != stream || intervals.size() == kMost) put();
    stream = row.stream;
    intervals.push_back({row.start_ns + shift_ns_,
                         row.duration_ns,
                         row.kind,
                         row.name,
                         row.correlation,
                         row.bytes,
                         row.graph,
                         {}});
    intervals.back().detail.how = static_cast<uint8_t>(row.how);
  }
  put();
}

}  // namespace rlscope::importers
