#include "analysis/cuda/gpu_rows.h"

#include <algorithm>

namespace rlscope::analysis {
namespace {

uint32_t WhatOf(const GpuMerge& at) {
  const GpuKey key = RowOfGpuKind(at.kind()).key;
  const uint32_t what = key == GpuKey::kName    ? at.batch().name[at.index()]
                        : key == GpuKey::kGraph ? at.batch().graph[at.index()]
                                                : at.batch().detail[at.index()].how;
  return std::min(what, GpuWorkRow::kWhatMask);
}

uint64_t KeyOf(uint32_t stream, uint32_t what, uint32_t path) {
  return (uint64_t{stream} << 42 | uint64_t{what} << 15 | path) + 1;
}

SyncKind KindOf(uint8_t how) { return how < kSyncKinds ? SyncKind{how} : SyncKind::kOther; }

}  // namespace

void GpuRows::Read(const std::vector<GpuInput>& inputs, const std::vector<uint32_t>& streams) {
  streams_.assign(inputs.size(), Stream());
  GpuMerge at(inputs, streams, trace::Detail::kAll);
  while (at.Next()) {
    Stream* const stream = &streams_[at.stream()];
    if (IsGpuWork(at.kind())) {
      AddWork(at, stream);
    } else if (RowOfGpuKind(at.kind()).role == GpuRole::kWait) {
      AddSync(at, stream);
    }
  }
}

void GpuRows::Stream::Add(int64_t start, int64_t end) {
  if (start != start_ns) {
    start_ns = start;
    busy_before_ns = busy_until_ns;
  }
  busy_until_ns = std::max(busy_until_ns, end);
}

void GpuRows::AddWork(const GpuMerge& at, Stream* stream) {
  const trace::GpuBatch& batch = at.batch();
  stream->Add(at.start_ns(), at.end_ns());
  Launch* const launch = launches_.Find(batch.correlation[at.index()], &stream->hint);
  if (launch != nullptr) launch->has_work = true;
  if (!recorded_.Touches(at.start_ns(), at.end_ns())) return;
  const int64_t duration_ns = at.end_ns() - at.start_ns();
  const uint32_t path = launch != nullptr ? launch->path : kUnlinkedPath;
  SpillTable<GpuWorkRow>* const table = &result_->work[GpuKindOf(at.kind())];
  GpuWorkRow* const row = table->FindOrAdd(KeyOf(at.stream(), WhatOf(at), path));
  row->min_ns = row->count == 0 ? duration_ns : std::min(row->min_ns, duration_ns);
  row->max_ns = std::max(row->max_ns, duration_ns);
  row->duration_ns += duration_ns;
  row->bytes += batch.bytes[at.index()];
  row->launch_bound += launch != nullptr && stream->WasIdle(launch->end_ns);
  ++row->count;
  result_->unlinked += launch == nullptr;
  AddToUnion(path, at.start_ns(), at.end_ns());
}

// Work comes in order of start, so what the path's earlier work covers after the start of this one
// reaches from there to the latest end without a hole.
void GpuRows::AddToUnion(uint32_t path, int64_t start_ns, int64_t end_ns) {
  if (path >= covered_until_ns_.size()) covered_until_ns_.resize(path + 1, INT64_MIN);
  int64_t* const covered_until_ns = &covered_until_ns_[path];
  *TimeOf(&time_->launched_ns, path) +=
      recorded_.Between(std::max(start_ns, *covered_until_ns), end_ns);
  *covered_until_ns = std::max(*covered_until_ns, end_ns);
}

// The call is what counts; its record on the GPU's side shows what it waited for. Without the call
// the record says when that was.
void GpuRows::AddSync(const GpuMerge& at, Stream* stream) {
  const SyncKind kind = KindOf(at.batch().detail[at.index()].how);
  Launch* const launch = launches_.Find(at.batch().correlation[at.index()], &stream->hint);
  if (launch != nullptr) {
    result_->syncs.Add(kind, launch->path, at.stream(), launch->start_ns, launch->end_ns);
  } else if (recorded_.Touches(at.start_ns(), at.end_ns())) {
    result_->syncs.Add(kind, kUnlinkedPath, at.stream(), at.start_ns(), at.end_ns());
  }
}

}  // namespace rlscope::analysis
