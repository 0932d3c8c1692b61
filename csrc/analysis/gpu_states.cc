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

GpuStates::GpuStates(const History& history, const GpuInput& input, Losses* losses, uint32_t stream,
                     const KeyLayout& layout)
    : StateStream(stream, layout, MakeState(kNoPath, kGpuIdle)),
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
    FindStretch();
  }
  while (!Full()) {
    const int64_t now = Next();
    if (now >= epoch_end()) {
      exhausted_ = true;
      return;
    }
    busy_ = !busy_;
    Emit(now, MakeState(kNoPath, busy_ ? kGpuBusy : kGpuIdle), false);
    if (!busy_) FindStretch();
  }
}

void GpuStates::FindStretch() {
  start_ns_ = end_ns_ = kNever;
  if (!has_interval_ && !NextInterval(&interval_start_ns_, &interval_end_ns_)) return;
  start_ns_ = interval_start_ns_;
  end_ns_ = interval_end_ns_;
  while ((has_interval_ = NextInterval(&interval_start_ns_, &interval_end_ns_))) {
    if (interval_start_ns_ > end_ns_) return;
    end_ns_ = std::max(end_ns_, interval_end_ns_);
  }
}

// Intervals of work, cut at both ends; those without any time are left out.
bool GpuStates::NextInterval(int64_t* start_ns, int64_t* end_ns) {
  while (source_ != nullptr) {
    if (batch_ == nullptr || interval_ == batch_->count) {
      batch_ = source_->Next();
      interval_ = 0;
      if (batch_ == nullptr) {
        losses_->undecodable_chunks += source_->undecodable_chunks();
        source_.reset();
        return false;
      }
      continue;
    }
    const uint32_t i = interval_++;
    if (!IsWork(batch_->kind[i])) continue;
    *start_ns = std::clamp(batch_->start_ns[i], first_ns_, last_ns_);
    *end_ns = std::clamp(batch_->end_ns[i], first_ns_, last_ns_);
    if (*start_ns < *end_ns) return true;
  }
  return false;
}

}  // namespace rlscope::analysis
