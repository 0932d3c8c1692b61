#include "analysis/cuda/cuda_relations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/cuda/cuda_follower.h"
#include "analysis/cuda/gpu_rows.h"
#include "analysis/cuda/gpu_shares.h"
#include "analysis/cuda/iteration_work.h"
#include "analysis/cuda/launch_table.h"
#include "analysis/cuda/site_rows.h"
#include "analysis/gpu/busy_time.h"
#include "analysis/process/recorded_time.h"
#include "analysis/sweep/thread_archive.h"
#include "analysis/threads/thread_states.h"

namespace rlscope::analysis {
namespace {

// The answer of a query while the work is not done: no error, says CUDA.
constexpr uint32_t kNotReady = 600;

struct Device {
  uint32_t number;
  std::vector<uint32_t> streams;  // of the input
};

std::vector<Device> FindDevices(const std::vector<GpuInput>& inputs) {
  std::map<uint32_t, Device> devices;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    Device* const device = &devices[inputs[i].device];
    device->number = inputs[i].device;
    device->streams.push_back(i);
  }
  std::vector<Device> found;
  for (auto& [number, device] : devices) found.push_back(std::move(device));
  return found;
}

// The first pass: calls by operation, and GPU time while an operation owned the process.
class CallRows : public CudaCallSink {
 public:
  CallRows(const ProcessInput& input, const std::vector<Device>& devices,
           const RecordedTime& recorded, LaunchTable* launches, SiteRows* sites, CudaResult* result)
      : launches_(launches), sites_(sites), result_(result) {
    for (const Device& device : devices) busy_.emplace_back(input.gpu, device.streams, recorded);
  }

  void ChangeOwner(uint32_t path, int64_t until_ns, uint32_t) override {
    for (size_t i = 0; i < busy_.size(); ++i) {
      const int64_t busy_ns = busy_[i].AdvanceTo(until_ns);
      if (busy_ns > 0) *TimeOf(&result_->devices[i].while_ns, path) += busy_ns;
    }
  }

  void AdvanceTo(int64_t) override {}

  void AddCall(const CudaCall& call) override {
    const uint32_t name = std::min(call.name, trace::kMaxId);
    ApiCallRow* const row = result_->api_calls.FindOrAdd(KeyOf(name, call.path));
    ++row->calls;
    row->errors += call.status != 0 && call.status != kNotReady;
    row->duration_ns += call.end_ns - call.start_ns;
    sites_->AddCall(call);
    if (call.correlation == 0) return;
    launches_->Add(
        {call.correlation, call.start_ns, call.end_ns, name, call.path, false, call.site});
  }

  static uint64_t KeyOf(uint32_t name, uint32_t path) {
    return uint64_t{name} * (kPathMask + 1) + path + 1;
  }

 private:
  LaunchTable* const launches_;
  SiteRows* const sites_;
  CudaResult* const result_;
  std::vector<BusyTime> busy_;  // by device
};

void ReadCalls(const ProcessInput& input, const History& history, CallRows* rows,
               CudaResult* result) {
  Losses losses;  // the sweep's are the same
  ThreadContext context = {
      &input, &history, &result->paths, &losses, nullptr, nullptr, FunctionLayers(input.names)};
  context.cuda_notes = true;
  Streams streams(context, /*gpu=*/false);
  CudaFollower calls(&streams, rows);
  if (input.saved) {  // of a process that had no CUDA then
    CallCounts counts;
    OwnerCalls owner_calls(&counts, streams.Calls(), streams.Threads());
    trace::Archive archive = *input.saved;
    CarryThreads(&archive, &result->paths, &streams);
    calls.GoOn(&archive, streams, result->paths.size(), &owner_calls);
  }
  streams.MergeInto(&calls);
  calls.Finish(history.end_ns());
}

void CountCallsWithWork(const LaunchTable& launches, CudaResult* result) {
  for (const Launch& launch : launches.launches()) {
    if (!launch.has_work) continue;
    ++result->api_calls.FindOrAdd(CallRows::KeyOf(launch.name, launch.path))->with_work;
  }
}

// The third pass: GPU time by the call and by the iteration that launched the work.
void ReadShares(const ProcessInput& input, const RecordedTime& recorded,
                const LaunchTable& launches, const History& history, SiteRows* sites,
                CudaResult* result) {
  IterationWork iterations(history, result);
  if (!result->has_sites && !iterations.has_iterations()) return;
  ReadGpuShares(input.gpu, recorded, launches,
                [&](const GpuMerge& at, const Launch* launch, int64_t gpu_ns) {
                  if (result->has_sites) sites->AddWork(launch, at.start_ns(), gpu_ns);
                  if (launch != nullptr) iterations.AddWork(*launch, at.kind(), gpu_ns);
                });
}

bool HasCuda(const ProcessInput& input) {
  const auto has_calls = [](const ThreadInput& thread) { return bool{thread.open_cuda_calls}; };
  return !input.gpu.empty() || std::any_of(input.threads.begin(), input.threads.end(), has_calls);
}

}  // namespace

std::unique_ptr<CudaResult> FindCuda(const ProcessInput& input, const LoopSpan& loop) {
  auto result = std::make_unique<CudaResult>(input);
  if (!HasCuda(input)) return result;
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  const RecordedTime recorded(history, input.start_ns);
  const std::vector<Device> devices = FindDevices(input.gpu);
  for (const Device& device : devices) result->devices.push_back({device.number, {}, {}});
  result->has_gaps = history.has_gaps();
  LaunchTable launches;
  SiteRows sites(loop, result.get());
  CallRows calls(input, devices, recorded, &launches, &sites, result.get());
  ReadCalls(input, history, &calls, result.get());
  launches.Sort();
  for (size_t i = 0; i < devices.size(); ++i) {
    GpuRows rows(recorded, launches, &result->devices[i], result.get());
    rows.Read(input.gpu, devices[i].streams);
  }
  ReadShares(input, recorded, launches, history, &sites, result.get());
  CountCallsWithWork(launches, result.get());
  result->syncs.Resolve(recorded);
  return result;
}

}  // namespace rlscope::analysis
