#include "trace/read/cursor.h"

#include <algorithm>

#include "trace/format/frame.h"
#include "trace/read/interval_decoder.h"

namespace rlscope::trace {
namespace {

// Converts a column of ascending ticks where it stands.
int64_t* ToNsInPlace(const base::ClockConverter& clock, std::vector<uint64_t>* ticks,
                     uint32_t count) {
  int64_t* const ns = reinterpret_cast<int64_t*>(ticks->data());
  clock.ToNs(ticks->data(), count, ns);
  return ns;
}

// How long a producer waited for room, in nanoseconds in place of ticks. Before the ticks of the
// items are converted: those are the ends of the waits.
void RoomWaitsToNs(const base::ClockConverter& clock, CpuColumns* columns) {
  uint32_t value = 0;
  for (uint32_t i = 0; columns->values > 0 && i < columns->count; ++i) {
    const uint32_t kind = WhatKind(columns->what[i]);
    if (!HasTwoSlots(kind)) continue;
    uint64_t* const waited = &columns->value[value++];
    if (kind != kWait) continue;
    const uint64_t end = columns->ticks[i];
    *waited = static_cast<uint64_t>(clock.ToNs(end) - clock.ToNs(end - std::min(*waited, end)));
  }
}

// Moves leading times of an ascending column up to `floor`. How many it moved.
uint32_t RaiseTo(int64_t floor, int64_t* times, uint32_t count) {
  uint32_t moved = 0;
  for (; moved < count && times[moved] < floor; ++moved) times[moved] = floor;
  return moved;
}

}  // namespace

// ---- items of a thread ------------------------------------------------------------------------

void CursorPlace::Carry(Archive* archive) {
  archive->Number(&begun);
  last.Carry(archive);
  archive->Time(&previous_end_ns);
  archive->Number(&gap);
  archive->Number(&missing);
  archive->Number(&undecodable);
  archive->Number(&clamped);
}

ThreadCursor::ThreadCursor(const ProcessTrace& process, size_t thread_index,
                           const CursorPlace& from)
    : process_(&process), chunks_(&process.threads()[thread_index].cpu), before_(from), at_(from) {
  const auto is_behind = [&](const CpuChunkRef& chunk) { return from.last < PlaceOf(chunk); };
  if (!from.begun) return;
  next_ = static_cast<size_t>(std::find_if(chunks_->begin(), chunks_->end(), is_behind) -
                              chunks_->begin());
}

const CpuBatch* ThreadCursor::Next() {
  before_ = at_;
  while (next_ < chunks_->size()) {
    const CpuChunkRef& chunk = (*chunks_)[next_++];
    at_.begun = true;
    at_.last = PlaceOf(chunk);
    if (Load(chunk)) return &batch_;
    ++at_.undecodable;
    at_.gap = true;
    at_.missing += chunk.slots;
  }
  return nullptr;
}

bool ThreadCursor::Load(const CpuChunkRef& chunk) {
  CpuHeader header;
  if (!ParseCpuHeader(chunk.payload, chunk.size, &header) || !DecodeCpu(header, &columns_)) {
    return false;
  }
  const base::ClockConverter& clock = process_->clock();
  RoomWaitsToNs(clock, &columns_);
  int64_t* const times = ToNsInPlace(clock, &columns_.ticks, columns_.count);
  int64_t* const call_ends = ToNsInPlace(clock, &columns_.call_end, columns_.calls);
  int64_t ahead_ns = at_.previous_end_ns;  // the record of a chunk without slots comes again
  int64_t* const previous_end_ns = chunk.slots == 0 ? &ahead_ns : &at_.previous_end_ns;
  at_.clamped += RaiseTo(*previous_end_ns, times, columns_.count);
  at_.clamped += RaiseTo(*previous_end_ns, call_ends, columns_.calls);
  if (columns_.count > 0) *previous_end_ns = std::max(*previous_end_ns, times[columns_.count - 1]);
  if (columns_.calls > 0) {
    *previous_end_ns = std::max(*previous_end_ns, call_ends[columns_.calls - 1]);
  }
  batch_.count = columns_.count;
  batch_.time_ns = times;
  batch_.what = columns_.what.data();
  batch_.call_end_ns = call_ends;
  batch_.value = columns_.value.data();
  batch_.calls = columns_.calls;
  batch_.values = columns_.values;
  batch_.probe = columns_.probe.data();
  batch_.probes = columns_.probes;
  SetGap(chunk, header);
  return true;
}

void ThreadCursor::SetGap(const CpuChunkRef& chunk, const CpuHeader& header) {
  batch_.begins_after_gap = at_.gap || chunk.missing_slots > 0;
  batch_.missing_slots = at_.missing + chunk.missing_slots;
  batch_.task = header.task;
  batch_.open.clear();
  at_.gap = false;
  at_.missing = 0;
  if (!batch_.begins_after_gap || !DecodeOpen(header, &open_ticks_)) return;
  for (const OpenOperation& open : open_ticks_) {
    batch_.open.push_back({process_->clock().ToNs(open.enter_ticks), open.task, open.name});
  }
}

// ---- CUDA calls of a thread -------------------------------------------------------------------

CudaCallCursor::CudaCallCursor(const ProcessTrace& process, size_t thread_index, Detail detail)
    : process_(&process), chunks_(&process.threads()[thread_index].cuda), detail_(detail) {}

const CudaCallBatch* CudaCallCursor::Next() {
  while (next_ < chunks_->size()) {
    if (Load((*chunks_)[next_++])) return &batch_;
    ++undecodable_;
  }
  return nullptr;
}

bool CudaCallCursor::Load(const CudaChunkRef& chunk) {
  CudaCallHeader header;
  if (!ParseCudaCallHeader(chunk.payload, chunk.size, &header) ||
      !DecodeCudaCalls(header, detail_, &columns_)) {
    return false;
  }
  const uint32_t count = columns_.count;
  int64_t* const starts = ToNsInPlace(process_->clock(), &columns_.start, count);
  int64_t* const ends = ToNsInPlace(process_->clock(), &columns_.end, count);
  clamped_ += RaiseTo(previous_end_ns_, starts, count);
  clamped_ += RaiseTo(previous_end_ns_, ends, count);
  if (count > 0) previous_end_ns_ = std::max(previous_end_ns_, ends[count - 1]);
  batch_ = {count,
            starts,
            ends,
            columns_.name.data(),
            columns_.correlation.data(),
            columns_.status.data(),
            columns_.context.data(),
            columns_.site.data()};
  return true;
}

// ---- GPU intervals of a stream ----------------------------------------------------------------

GpuCursor::GpuCursor(const ProcessTrace& process, size_t stream_index, Detail detail)
    : chunks_(&process.gpu_streams()[stream_index].chunks), detail_(detail) {}

// Decodes every chunk that begins at or before `start_ns`.
void GpuCursor::OpenSourcesUpTo(int64_t start_ns) {
  for (; next_ < chunks_->size() && (*chunks_)[next_].min_start_ns <= start_ns; ++next_) {
    const GpuChunkRef& chunk = (*chunks_)[next_];
    if (spare_.empty()) spare_.push_back(std::make_unique<Source>());
    Source* const source = spare_.back().get();
    GpuHeader header;
    if (ParseGpuHeader(chunk.payload, chunk.size, &header) &&
        DecodeGpu(header, detail_, &source->columns) && source->columns.count > 0) {
      source->next = 0;
      sources_.push_back(std::move(spare_.back()));
      spare_.pop_back();
    } else {
      ++undecodable_;
    }
  }
}

// The source with the earliest interval, once no unopened chunk can have an earlier one; null at
// the end of the stream.
GpuCursor::Source* GpuCursor::FindEarliest() {
  while (true) {
    if (sources_.empty()) {
      if (next_ == chunks_->size()) return nullptr;
      OpenSourcesUpTo((*chunks_)[next_].min_start_ns);
      continue;
    }
    Source* earliest = sources_.front().get();
    for (const auto& source : sources_) {
      if (source->start_ns() < earliest->start_ns()) earliest = source.get();
    }
    if (next_ == chunks_->size() || (*chunks_)[next_].min_start_ns > earliest->start_ns()) {
      return earliest;
    }
    OpenSourcesUpTo(earliest->start_ns());
  }
}

// No other chunk has intervals between those of this one.
bool GpuCursor::IsAlone(const Source& source) const {
  return sources_.size() == 1 &&
         (next_ == chunks_->size() || (*chunks_)[next_].min_start_ns > source.last_start_ns());
}

void GpuCursor::Remove(const Source* source) {
  const auto place = std::find_if(sources_.begin(), sources_.end(),
                                  [&](const auto& one) { return one.get() == source; });
  spare_.push_back(std::move(*place));
  sources_.erase(place);
}

void GpuCursor::Append(const GpuColumns& from, uint32_t index) {
  const uint32_t to = merged_.count++;
  merged_.start_ns[to] = from.start_ns[index];
  merged_.end_ns[to] = from.end_ns[index];
  merged_.kind[to] = from.kind[index];
  if (detail_ == Detail::kTimes) return;
  merged_.name[to] = from.name[index];
  merged_.correlation[to] = from.correlation[index];
  merged_.bytes[to] = from.bytes[index];
  merged_.graph[to] = from.graph[index];
  merged_.details[to] = from.details[index];
}

// A chunk's worth, of as many chunks as it takes.
void GpuCursor::MergeSources(Source* earliest) {
  merged_.Resize(kChunkIntervals, detail_);
  merged_.count = 0;
  while (earliest != nullptr && merged_.count < kChunkIntervals) {
    Append(earliest->columns, earliest->next);
    if (++earliest->next == earliest->columns.count) Remove(earliest);
    earliest = FindEarliest();
  }
}

void GpuCursor::SetBatch(const GpuColumns& columns, uint32_t first) {
  batch_.count = columns.count - first;
  batch_.start_ns = columns.start_ns.data() + first;
  batch_.end_ns = columns.end_ns.data() + first;
  batch_.kind = columns.kind.data() + first;
  if (detail_ == Detail::kTimes) return;
  batch_.name = columns.name.data() + first;
  batch_.correlation = columns.correlation.data() + first;
  batch_.bytes = columns.bytes.data() + first;
  batch_.graph = columns.graph.data() + first;
  batch_.detail = columns.details.data() + first;
}

const GpuBatch* GpuCursor::Next() {
  Source* const earliest = FindEarliest();
  if (earliest == nullptr) return nullptr;
  if (IsAlone(*earliest)) {
    SetBatch(earliest->columns, earliest->next);
    Remove(earliest);
  } else {
    MergeSources(earliest);
    SetBatch(merged_, 0);
  }
  return &batch_;
}

}  // namespace rlscope::trace
