#include "analysis/gpu_states.h"

#include <algorithm>

#include "analysis/operation_paths.h"

namespace rlscope::analysis {
namespace {

bool IsWork(uint32_t kind) {
  switch (static_cast<trace::GpuKind>(kind)) {
    case trace::GpuKind::kKernel:
    case trace::GpuKind::kMemcpy:
    case trace::GpuKind::kMemset:
    case trace::GpuKind::kGraph:
      return true;
    default:
      return false;
  }
}

}  // namespace

GpuStates::GpuStates(const History& history, const GpuInput& input, Losses* losses,
                     const KeyLayout& layout)
    : StateStream(kGpuStream, layout, MakeState(kNoPath, kGpuIdle)),
      first_ns_(history.start_ns()),
      last_ns_(history.end_ns()),
      input_(input),
      losses_(losses) {}

int64_t GpuStates::NextChange() const {
  return opened_ ? Next() : std::clamp(input_.first_ns, first_ns_, last_ns_);
}

void GpuStates::Fill() {
  if (!opened_) {
    opened_ = true;
    source_ = input_.open();
    FindInterval();
    FindStretch();
  }
  KeyWriter writer = writer_;
  while (writer.end < limit_) {
    const int64_t now = Next();
    if (now >= epoch_end()) {
      exhausted_ = true;
      break;
    }
    busy_ = !busy_;
    writer.EmitLayer(now, MakeState(kNoPath, busy_ ? kGpuBusy : kGpuIdle));
    if (!busy_) FindStretch();
  }
  writer_ = writer;
}

void GpuStates::FindStretch() {
  start_ns_ = ahead_start_ns_;
  int64_t end_ns = ahead_end_ns_;
  do {
    FindInterval();
    if (ahead_start_ns_ > end_ns) break;
    end_ns = std::max(end_ns, ahead_end_ns_);
  } while (ahead_start_ns_ != kNever);
  end_ns_ = end_ns;
}

// Intervals of work, cut at both ends; those without any time are left out.
inline void GpuStates::FindInterval() {
  while (interval_ != intervals_ || LoadBatch()) {
    const uint32_t i = interval_++;
    ahead_start_ns_ = std::min(std::max(batch_->start_ns[i], first_ns_), last_ns_);
    ahead_end_ns_ = std::min(std::max(batch_->end_ns[i], first_ns_), last_ns_);
    if (ahead_start_ns_ < ahead_end_ns_ && IsWork(batch_->kind[i])) return;
  }
  ahead_start_ns_ = ahead_end_ns_ = kNever;
}

// False: no intervals are left.
bool GpuStates::LoadBatch() {
  interval_ = intervals_ = 0;
  while (source_ != nullptr && intervals_ == 0) {
    batch_ = source_->Next();
    if (batch_ != nullptr) {
      intervals_ = batch_->count;
      continue;
    }
    losses_->undecodable_chunks += source_->undecodable_chunks();
    source_.reset();
  }
  return intervals_ != 0;
}

}  // namespace rlscope::analysis
