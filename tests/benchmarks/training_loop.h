// The events of a made-up RL training loop: three threads, their CUDA calls, three GPU streams.
#ifndef RLSCOPE_TESTS_BENCHMARKS_TRAINING_LOOP_H_
#define RLSCOPE_TESTS_BENCHMARKS_TRAINING_LOOP_H_

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <random>
#include <vector>

#include "textbook_sweep.h"

namespace rlscope::benchmarks {

constexpr int64_t kStartNs = 1000000000000;
const char* const kOperations[] = {"rollout", "inference", "simulation", "store",    "update",
                                   "forward", "loss",      "backward",   "optimizer"};

// One pass of the loop after the other, until there are enough events. 41 % framework calls, 25 %
// CUDA calls, 25 % GPU work, 6 % simulator calls, 3 % operations; gaps and lengths log-normal.
class TrainingLoop {
 public:
  explicit TrainingLoop(size_t events) {
    streams_.resize(9);  // 3 threads, their CUDA calls, 3 GPU streams
    int64_t now = kStartNs;
    for (size_t at = 0; count_ < events; ++at) now = at % 2 == 0 ? Rollout(now) : Update(now);
    end_ns_ = now + 1000000;
    for (Stream& stream : streams_) {
      for (int64_t end : stream.end_ns) end_ns_ = std::max(end_ns_, end);
    }
  }

  const std::vector<Stream>& streams() const { return streams_; }
  size_t events() const { return count_; }
  int64_t end_ns() const { return end_ns_; }

 private:
  int64_t Draw(double median_ns) {
    return 1 + static_cast<int64_t>(std::lognormal_distribution<>(log(median_ns), 0.6)(random_));
  }

  size_t Begin(int stream, int64_t now, Layer layer, uint16_t operation = 0) {
    Stream* to = &streams_[stream];
    to->start_ns.push_back(now);
    to->end_ns.push_back(now);
    to->layer.push_back(static_cast<uint8_t>(layer));
    to->operation.push_back(operation);
    ++count_;
    return to->start_ns.size() - 1;
  }

  int64_t Operation(int64_t now, uint16_t operation, int calls, int thread, Layer layer) {
    const size_t event = Begin(0, now, kOperation, operation);
    now = Calls(now + Draw(2000), calls, thread, layer);
    streams_[0].end_ns[event] = now;
    return now + Draw(1000);
  }

  // Native calls, of which some launch GPU work.
  int64_t Calls(int64_t now, int calls, int thread, Layer layer) {
    for (int i = 0; i < calls; ++i) {
      const size_t call = Begin(thread, now, layer);
      now += Draw(1500);
      for (int launches = static_cast<int>(random_() % 5); launches > 2 && layer == kFramework;
           --launches) {
        now = Launch(now, thread);
      }
      streams_[thread].end_ns[call] = now;
      now += Draw(1200);
    }
    return now;
  }

  int64_t Launch(int64_t now, int thread) {
    const size_t call = Begin(3 + thread, now, kCudaApi);
    const int64_t end = now + Draw(2500);
    streams_[3 + thread].end_ns[call] = end;
    Stream* gpu = &streams_[6 + random_() % 3];
    const int64_t free_ns = gpu->end_ns.empty() ? 0 : gpu->end_ns.back();
    const size_t work =
        Begin(static_cast<int>(gpu - streams_.data()), std::max(end, free_ns), kGpu);
    gpu->end_ns[work] = gpu->start_ns[work] + Draw(3000);
    return end + Draw(400);
  }

  int64_t Rollout(int64_t now) {
    const size_t event = Begin(0, now, kOperation, 1);
    for (int step = 0; step < 64; ++step) {
      now = Operation(now, 2, 12, 0, kFramework);
      now = Operation(now, 3, 10, 0, kSimulator);
      now = Operation(now, 4, 2, 0, kFramework);
    }
    streams_[0].end_ns[event] = now;
    return now + Draw(1000);
  }

  // The backward pass runs on two threads of the framework, which have no operations.
  int64_t Update(int64_t now) {
    const size_t event = Begin(0, now, kOperation, 5);
    for (int batch = 0; batch < 16; ++batch) {
      now = Operation(now, 6, 40, 0, kFramework);
      now = Operation(now, 7, 10, 0, kFramework);
      const size_t backward = Begin(0, now, kOperation, 8);
      const int64_t first = Calls(now + 500, 40, 1, kFramework);
      const int64_t second = Calls(now + 700, 20, 2, kFramework);
      now = std::max(first, second) + Draw(1000);
      streams_[0].end_ns[backward] = now;
      now = Operation(now + Draw(500), 9, 20, 0, kFramework);
    }
    streams_[0].end_ns[event] = now;
    return now + Draw(1000);
  }

  std::mt19937_64 random_{7};
  std::vector<Stream> streams_;
  size_t count_ = 0;
  int64_t end_ns_ = 0;
};

}  // namespace rlscope::benchmarks

#endif  // RLSCOPE_TESTS_BENCHMARKS_TRAINING_LOOP_H_
