// CUDA calls and GPU work by operation: look-ups in a long table of launches, and the memory of
// a long run.
#include "analysis/cuda/cuda_relations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/cuda/launch_table.h"
#include "counted_memory.h"
#include "sweep_process.h"

namespace rlscope::analysis {
namespace {

using tests::MemoryPeak;

// ---- launches -----------------------------------------------------------------------------------

Launch MakeLaunch(int64_t correlation, int64_t start_ns = 0) {
  return {correlation, start_ns, start_ns, 1, 0, 0};
}

// Every id from every hint, also those that no call has.
TEST(LaunchTableTest, FindsEveryLaunchFromEveryHint) {
  constexpr int64_t kLaunches = 70;
  LaunchTable table;
  for (int64_t i = kLaunches; i > 0; --i) table.Add(MakeLaunch(3 * i));
  table.Sort();
  for (size_t from = 0; from < kLaunches + 2; ++from) {
    for (int64_t id = -1; id <= 3 * kLaunches + 4; ++id) {
      size_t hint = from;
      const Launch* const found = table.Find(id, &hint);
      const bool exists = id > 0 && id % 3 == 0 && id <= 3 * kLaunches;
      ASSERT_EQ(found != nullptr, exists) << id << " from " << from;
      if (!exists) continue;
      ASSERT_EQ(found->correlation, id);
      ASSERT_EQ(hint, static_cast<size_t>(id / 3 - 1));
    }
  }
}

TEST(LaunchTableTest, OfOneIdTheFirstCallIsFound) {
  LaunchTable table;
  for (int64_t start_ns : {30, 10, 20}) table.Add(MakeLaunch(5, start_ns));
  table.Sort();
  size_t hint = 2;
  EXPECT_EQ(table.Find(5, &hint)->start_ns, 10);
}

TEST(LaunchTableTest, AnEmptyTableHasNothing) {
  size_t hint = 0;
  EXPECT_EQ(LaunchTable().Find(1, &hint), nullptr);
}

// ---- memory -------------------------------------------------------------------------------------

constexpr int64_t kLaunchNs = 10;
constexpr int64_t kWorkNs = 5;

// `count` intervals that are made as they are read: number i begins at i * kLaunchNs + `offset`.
template <class Batch>
class MadeIntervals : public Source<Batch> {
 public:
  MadeIntervals(int64_t count, int64_t offset) : count_(count), offset_(offset) {}

  const Batch* Next() override {
    if (at_ == count_) return nullptr;
    const auto size =
        static_cast<size_t>(std::min<int64_t>(count_ - at_, static_cast<int64_t>(kMemoryBatch)));
    start_ns_.clear();
    end_ns_.clear();
    correlation_.clear();
    for (size_t i = 0; i < size; ++i, ++at_) {
      start_ns_.push_back(at_ * kLaunchNs + offset_);
      end_ns_.push_back(start_ns_.back() + kWorkNs);
      correlation_.push_back(at_ + 1);
    }
    ones_.assign(size, 1);
    zeros_.assign(size, 0);
    details_.assign(size, trace::GpuDetail());
    sizes_.assign(size, 0);
    Fill(&batch_);
    return &batch_;
  }

 private:
  void FillCommon(Batch* batch) {
    batch->count = static_cast<uint32_t>(start_ns_.size());
    batch->start_ns = start_ns_.data();
    batch->end_ns = end_ns_.data();
    batch->name = ones_.data();
    batch->correlation = correlation_.data();
  }
  void Fill(trace::CudaCallBatch* batch) {
    FillCommon(batch);
    batch->status = zeros_.data();
  }
  void Fill(trace::GpuBatch* batch) {
    FillCommon(batch);
    batch->kind = ones_.data();  // kernels
    batch->bytes = sizes_.data();
    batch->graph = zeros_.data();
    batch->detail = details_.data();
  }

  const int64_t count_;
  const int64_t offset_;
  int64_t at_ = 0;
  std::vector<int64_t> start_ns_, end_ns_, correlation_;
  std::vector<uint32_t> ones_, zeros_;
  std::vector<uint64_t> sizes_;
  std::vector<trace::GpuDetail> details_;
  Batch batch_;
};

ProcessInput MakeProcess(int64_t launches) {
  ProcessInput input;
  input.end_ns = (launches + 1) * kLaunchNs;
  input.main_os_tid = 100;
  input.names.push_back({1, static_cast<uint32_t>(trace::NameKind::kKernel), 0, "k"});
  ThreadInput thread;
  thread.thread = 1;
  thread.os_tid = 100;
  thread.weight = 1;
  thread.open_cuda_calls = [launches](trace::Detail) {
    return std::make_unique<MadeIntervals<trace::CudaCallBatch>>(launches, 0);
  };
  input.threads.push_back(std::move(thread));
  GpuInput gpu;
  gpu.context = 1;
  gpu.stream = 7;
  gpu.weight = 1;
  gpu.open = [launches](trace::Detail) {
    return std::make_unique<MadeIntervals<trace::GpuBatch>>(launches, kWorkNs);
  };
  input.gpu.push_back(std::move(gpu));
  return input;
}

// The table of launches (32 MB here) moves to a file.
TEST(CudaMemoryTest, AMillionLaunches) {
  constexpr int64_t kLaunches = 1000000;
  const ProcessInput input = MakeProcess(kLaunches);
  const MemoryPeak peak;
  const std::unique_ptr<CudaResult> result = FindCuda(input);
  EXPECT_LT(peak.bytes(), size_t{4} << 20);
  const auto is_row = [](const auto& row) { return row.key != 0; };
  const auto& work = result->work[static_cast<size_t>(trace::GpuKind::kKernel)];
  ASSERT_EQ(work.size(), 1u);
  const auto& kernels = work.slots();
  const GpuWorkRow& kernel = *std::find_if(kernels.begin(), kernels.end(), is_row);
  EXPECT_EQ(kernel.count, uint64_t{kLaunches});
  EXPECT_EQ(kernel.launch_bound, uint64_t{kLaunches});
  EXPECT_EQ(kernel.duration_ns, kLaunches * kWorkNs);
  ASSERT_EQ(result->api_calls.size(), 1u);
  const auto& calls = result->api_calls.slots();
  EXPECT_EQ(std::find_if(calls.begin(), calls.end(), is_row)->with_work, uint64_t{kLaunches});
  ASSERT_EQ(result->devices.size(), 1u);
  EXPECT_EQ(result->devices[0].launched_ns[kNoPath], kLaunches * kWorkNs);
  EXPECT_EQ(result->devices[0].while_ns[kNoPath], kLaunches * kWorkNs);
  EXPECT_EQ(result->unlinked, 0u);
}

}  // namespace
}  // namespace rlscope::analysis
