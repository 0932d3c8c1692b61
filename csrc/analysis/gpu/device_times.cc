#include "analysis/gpu/device_times.h"

#include <algorithm>
#include <memory>
#include <queue>

#include "analysis/gpu/gpu_merge.h"
#include "analysis/keys/key.h"

namespace rlscope::analysis {
namespace {

std::vector<uint32_t> StreamsOf(const DeviceUse& use) {
  std::vector<uint32_t> streams;
  for (uint32_t i = 0; i < use.input->gpu.size(); ++i) {
    if (use.input->gpu[i].device == use.device) streams.push_back(i);
  }
  return streams;
}

// The stretches of time in which one process kept the device busy, one after the other: a union,
// cut at the edges of the process's windows.
class BusyStretches {
 public:
  explicit BusyStretches(const DeviceUse& use)
      : history_(use.input->start_ns, use.input->end_ns, use.input->process_items,
                 use.input->names),
        merge_(use.input->gpu, StreamsOf(use), trace::Detail::kTimes) {
    FindWork();
    FindUncut();
  }

  // Goes to the next one. False: there is none.
  bool Next() {
    const std::vector<Window>& windows = history_.windows();
    while (uncut_.start_ns != kNever && window_ < windows.size()) {
      const Window& window = windows[window_];
      current_ = {std::max(uncut_.start_ns, window.start_ns),
                  std::min(uncut_.end_ns, window.stop_ns)};
      if (window.stop_ns < uncut_.end_ns) {
        ++window_;
      } else {
        FindUncut();
      }
      if (current_.start_ns < current_.end_ns) return true;
    }
    return false;
  }

  // Only after Next() was true.
  const Span& current() const { return current_; }

 private:
  // Intervals that meet or overlap are one.
  void FindUncut() {
    uncut_ = work_;
    while (work_.start_ns <= uncut_.end_ns && work_.start_ns != kNever) {
      uncut_.end_ns = std::max(uncut_.end_ns, work_.end_ns);
      FindWork();
    }
  }

  void FindWork() {
    while (merge_.Next()) {
      work_ = {merge_.start_ns(), merge_.end_ns()};
      if (IsGpuWork(merge_.kind())) return;
    }
    work_ = {kNever, kNever};
  }

  const History history_;
  GpuMerge merge_;
  Span work_;   // that was read, and is not in uncut_
  Span uncut_;  // across windows
  Span current_ = {0, 0};
  size_t window_ = 0;
};

// Adds what no stretch before covered.
class BusyBuckets {
 public:
  BusyBuckets(const Span& whole, DeviceTimes* times)
      : times_(times), covered_until_ns_(whole.start_ns), end_ns_(whole.end_ns) {}

  void Add(const Span& stretch) {
    const int64_t end_ns = std::min(stretch.end_ns, end_ns_);
    int64_t now = std::max(stretch.start_ns, covered_until_ns_);
    covered_until_ns_ = std::max(end_ns, covered_until_ns_);
    while (now < end_ns) {
      const int64_t bucket = times_->grid.BucketOf(now);
      const int64_t until_ns = std::min(end_ns, times_->grid.StartOf(bucket + 1));
      times_->busy_ns[static_cast<size_t>(bucket)] += until_ns - now;
      now = until_ns;
    }
  }

 private:
  DeviceTimes* const times_;
  int64_t covered_until_ns_;
  const int64_t end_ns_;
};

// Adds what lies in the spans and no stretch before covered.
class BusySpans {
 public:
  explicit BusySpans(const std::vector<Span>& spans) : spans_(spans) {}

  void Add(const Span& stretch) {
    const int64_t start_ns = std::max(stretch.start_ns, covered_until_ns_);
    covered_until_ns_ = std::max(stretch.end_ns, covered_until_ns_);
    while (next_ < spans_.size() && spans_[next_].end_ns <= start_ns) ++next_;
    for (size_t i = next_; i < spans_.size() && spans_[i].start_ns < stretch.end_ns; ++i) {
      const int64_t from_ns = std::max(spans_[i].start_ns, start_ns);
      const int64_t until_ns = std::min(spans_[i].end_ns, stretch.end_ns);
      busy_ns_ += std::max<int64_t>(0, until_ns - from_ns);
    }
  }

  int64_t busy_ns() const { return busy_ns_; }

 private:
  const std::vector<Span>& spans_;
  size_t next_ = 0;  // the first that a later stretch may meet
  int64_t covered_until_ns_ = INT64_MIN;
  int64_t busy_ns_ = 0;
};

struct StartsLater {
  bool operator()(const BusyStretches* one, const BusyStretches* other) const {
    return one->current().start_ns > other->current().start_ns;
  }
};

// Gives the stretches of all processes to `busy`, in order of start.
template <class Busy>
void AddStretches(const std::vector<DeviceUse>& uses, Busy* busy) {
  std::vector<std::unique_ptr<BusyStretches>> processes;
  std::priority_queue<BusyStretches*, std::vector<BusyStretches*>, StartsLater> next;
  for (const DeviceUse& use : uses) {
    processes.push_back(std::make_unique<BusyStretches>(use));
    if (processes.back()->Next()) next.push(processes.back().get());
  }
  while (!next.empty()) {
    BusyStretches* const process = next.top();
    next.pop();
    busy->Add(process->current());
    if (process->Next()) next.push(process);
  }
}

}  // namespace

DeviceTimes FindDeviceTimes(const std::vector<DeviceUse>& uses, const Span& whole,
                            uint32_t buckets) {
  DeviceTimes times = {TimeGrid::For(whole, buckets), std::vector<int64_t>(buckets)};
  BusyBuckets busy(whole, &times);
  AddStretches(uses, &busy);
  return times;
}

int64_t FindBusyTime(const std::vector<DeviceUse>& uses, const std::vector<Span>& spans) {
  BusySpans busy(spans);
  AddStretches(uses, &busy);
  return busy.busy_ns();
}

}  // namespace rlscope::analysis
