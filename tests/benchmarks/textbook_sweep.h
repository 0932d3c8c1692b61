// The sweep as a textbook has it: a priority queue over the next boundary of every stream, and a
// hash table of the time per state. What the real sweep is measured against (sweep.cc).
#ifndef RLSCOPE_TESTS_BENCHMARKS_TEXTBOOK_SWEEP_H_
#define RLSCOPE_TESTS_BENCHMARKS_TEXTBOOK_SWEEP_H_

#include <stdint.h>

#include <array>
#include <functional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace rlscope::benchmarks {

// Ranks of layers (analysis/keys/layer_ranks.h), and two of its own.
enum Layer : uint32_t {
  kOperation = 0,
  kPython = 2,
  kSimulator = 3,
  kFramework = 4,
  kCudaApi = 5,
  kGpu = 6,
};

// One stream of properly nested intervals in order of start; operations on the first stream only.
struct Stream {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint8_t> layer;
  std::vector<uint16_t> operation;  // kOperation
};

// Time per operation << 4 | layer << 1 | gpu_busy.
class TextbookSweep {
 public:
  explicit TextbookSweep(const std::vector<Stream>& streams)
      : streams_(streams), next_(streams.size()), open_(streams.size()) {}

  std::unordered_map<uint32_t, int64_t> Run() {
    for (uint32_t stream = 0; stream < streams_.size(); ++stream) Push(stream);
    int64_t last_ns = queue_.empty() ? 0 : queue_.top().time_ns;
    while (!queue_.empty()) {
      const Boundary boundary = queue_.top();
      queue_.pop();
      if (boundary.time_ns > last_ns) {
        time_ns_[Key()] += boundary.time_ns - last_ns;
        last_ns = boundary.time_ns;
      }
      Cross(boundary);
      Push(boundary.stream);
    }
    return std::move(time_ns_);
  }

 private:
  struct Boundary {
    int64_t time_ns;
    uint32_t stream;
    bool ends;
    bool operator>(const Boundary& other) const { return time_ns > other.time_ns; }
  };

  // The next boundary of a stream: the innermost end, or the next start if that is earlier.
  void Push(uint32_t stream) {
    const Stream& from = streams_[stream];
    const bool more = next_[stream] < from.start_ns.size();
    if (!open_[stream].empty()) {
      const int64_t end_ns = from.end_ns[open_[stream].back()];
      if (!more || end_ns <= from.start_ns[next_[stream]]) {
        queue_.push({end_ns, stream, true});
        return;
      }
    }
    if (more) queue_.push({from.start_ns[next_[stream]], stream, false});
  }

  void Cross(const Boundary& boundary) {
    const Stream& from = streams_[boundary.stream];
    std::vector<size_t>* open = &open_[boundary.stream];
    const size_t event = boundary.ends ? open->back() : next_[boundary.stream]++;
    const uint32_t layer = from.layer[event];
    active_[layer] += boundary.ends ? -1 : 1;
    if (boundary.ends) {
      open->pop_back();
      if (layer == kOperation) operations_.pop_back();
    } else {
      open->push_back(event);
      if (layer == kOperation) operations_.push_back(from.operation[event]);
    }
  }

  uint32_t Key() const {
    uint32_t layer = kCudaApi;
    while (layer > kPython && active_[layer] == 0) --layer;
    const uint32_t operation = operations_.empty() ? 0 : operations_.back();
    return operation << 4 | layer << 1 | (active_[kGpu] > 0);
  }

  const std::vector<Stream>& streams_;
  std::vector<size_t> next_;
  std::vector<std::vector<size_t>> open_;
  std::vector<uint32_t> operations_;
  std::array<int64_t, kGpu + 1> active_ = {};
  std::priority_queue<Boundary, std::vector<Boundary>, std::greater<Boundary>> queue_;
  std::unordered_map<uint32_t, int64_t> time_ns_;
};

}  // namespace rlscope::benchmarks

#endif  // RLSCOPE_TESTS_BENCHMARKS_TEXTBOOK_SWEEP_H_
