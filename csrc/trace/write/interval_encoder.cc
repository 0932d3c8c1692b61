#include "trace/write/interval_encoder.h"

#include "base/clock.h"
#include "trace/write/interval_chunks.h"

namespace rlscope::trace {

namespace {

// A producer's account of its ring and of itself.
bool IsNote(uint32_t kind) {
  return kind == kPad || kind == kRingEnd || kind == kThreadEnd || kind == kGap || kind == kWait;
}

bool HasTime(const GpuInterval& interval) {
  constexpr int64_t kMaxNs = base::ClockConverter::kMaxNs;
  return interval.start_ns >= -kMaxNs && interval.start_ns <= kMaxNs - interval.duration_ns;
}

}  // namespace

void IntervalEncoder::Begin(RingUse use, const Place& place) {
  use_ = use;
  place_ = place;
  count_ = 0;
  slots_ = left_out_ = 0;
}

void IntervalEncoder::Add(const Slot& first, const Slot* more) {
  const uint32_t kind = KindOf(first.word);
  slots_ += SlotsOf(kind);
  if ((kind == kCudaCall || kind == kLineCudaCall) && use_ == RingUse::kCudaCalls) {
    calls_[count_++] = UnpackCudaCall(first, more, place_.tick_shift);
  } else if (kind == kGpuWork && use_ == RingUse::kGpu) {
    work_[count_] = UnpackGpuWork(first, more);
    const bool has_time = HasTime(work_[count_].interval);
    count_ += has_time;
    left_out_ += !has_time;
  } else {
    left_out_ += !IsNote(kind);
  }
}

int IntervalEncoder::Finish(Sink* sink, ChunkBuffer* buffer, uint64_t* clamped) {
  int error;
  if (use_ == RingUse::kCudaCalls) {
    error = WriteCudaCalls(sink, buffer, place_.thread, place_.ring, place_.first_slot, slots_,
                           calls_, count_, clamped);
  } else {
    error = FinishWork(sink, buffer);
  }
  if (error == 0) events_ += count_;
  return error;
}

// ---- by stream, and by start within one ---------------------------------------------------------

bool IntervalEncoder::IsBefore(uint16_t a, uint16_t b) const {
  const GpuWork& x = work_[a];
  const GpuWork& y = work_[b];
  if (x.device != y.device) return x.device < y.device;
  if (x.context != y.context) return x.context < y.context;
  if (x.stream != y.stream) return x.stream < y.stream;
  if (x.interval.start_ns != y.interval.start_ns) return x.interval.start_ns < y.interval.start_ns;
  return a < b;
}

void IntervalEncoder::SiftDown(uint32_t at, uint32_t end) {
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= end) return;
    if (child + 1 < end && IsBefore(order_[child], order_[child + 1])) child++;
    if (!IsBefore(order_[at], order_[child])) return;
    const uint16_t swapped = order_[at];
    order_[at] = order_[child];
    order_[child] = swapped;
    at = child;
  }
}

// Heapsort: the standard library's sort is not there for code that links libc only, and qsort may
// allocate.
void IntervalEncoder::SortWork() {
  for (uint32_t i = 0; i < count_; i++) order_[i] = static_cast<uint16_t>(i);
  for (uint32_t i = count_ / 2; i-- > 0;) SiftDown(i, count_);
  for (uint32_t end = count_; end-- > 1;) {
    const uint16_t last = order_[end];
    order_[end] = order_[0];
    order_[0] = last;
    SiftDown(0, end);
  }
}

int IntervalEncoder::FinishWork(Sink* sink, ChunkBuffer* buffer) {
  GpuOrigin origin = {0, 0, 0, place_.ring, place_.first_slot, slots_};
  if (count_ == 0) return WriteGpu(sink, buffer, origin, nullptr, 0);
  SortWork();
  for (uint32_t i = 0; i < count_; i++) sorted_[i] = work_[order_[i]].interval;
  for (uint32_t begin = 0, end; begin < count_; begin = end) {
    const GpuWork& first = work_[order_[begin]];
    for (end = begin + 1; end < count_; end++) {
      const GpuWork& other = work_[order_[end]];
      if (other.device != first.device || other.context != first.context ||
          other.stream != first.stream) {
        break;
      }
    }
    origin.device = first.device;
    origin.context = first.context;
    origin.stream = first.stream;
    if (const int error = WriteGpu(sink, buffer, origin, sorted_ + begin, end - begin)) {
      return error;
    }
  }
  return 0;
}

}  // namespace rlscope::trace
