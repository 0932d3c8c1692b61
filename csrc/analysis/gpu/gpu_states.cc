#include "analysis/gpu/gpu_states.h"

#include <algorithm>

#include "analysis/gpu/gpu_merge.h"
#include "analysis/keys/operation_paths.h"

namespace rlscope::analysis {

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
    source_ = input_.open(trace::Detail::kTimes);
    FindInterval();
    FindStretch();
  }
  KeyWriter writer = writer_;
  while (writer.end < limit_) {
    if (!busy_ && end_ns_ < epoch_end() && ahead_end_ns_ < epoch_end()) WriteStretches(&writer);
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

// The stretch that is next, and those after it as long as intervals are of the common form: work,
// not cut, in the batch. Whether an interval meets the one before is a coin toss, so that the keys
// of the stretch so far are written each time, and stay if it does not.
[[gnu::always_inline]] inline void GpuStates::WriteStretches(KeyWriter* writer) {
  constexpr uint32_t kBusyState = MakeState(kNoPath, kGpuBusy);
  constexpr uint32_t kIdleState = MakeState(kNoPath, kGpuIdle);
  uint64_t* end = writer->end;
  int64_t start_ns = ahead_start_ns_;
  int64_t end_ns = ahead_end_ns_;
  *end++ = writer->Key(start_ns_, kBusyState);
  *end++ = writer->Key(end_ns_, kIdleState);
  uint32_t i = interval_;
  for (; i != intervals_ && end < limit_; ++i) {
    const int64_t next_start_ns = batch_->start_ns[i];
    const int64_t next_end_ns = batch_->end_ns[i];
    if (next_start_ns < first_ns_ || next_end_ns > last_ns_ || next_end_ns <= next_start_ns ||
        next_end_ns >= epoch_end() || !IsGpuWork(batch_->kind[i])) {
      break;
    }
    end[0] = writer->Key(start_ns, kBusyState);
    end[1] = writer->Key(end_ns, kIdleState);
    const int64_t meets = (next_start_ns - end_ns - 1) >> 63;  // mask
    end += 2 + 2 * meets;
    start_ns ^= (start_ns ^ next_start_ns) & ~meets;
    end_ns = std::max(end_ns, next_end_ns);
  }
  interval_ = i;
  ahead_start_ns_ = start_ns;
  ahead_end_ns_ = end_ns;
  writer->end = end;
  FindStretch();
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
    if (ahead_start_ns_ < ahead_end_ns_ && IsGpuWork(batch_->kind[i])) return;
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
