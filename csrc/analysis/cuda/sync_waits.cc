#include "analysis/cuda/sync_waits.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/gpu/busy_time.h"

namespace rlscope::analysis {
namespace {

// A target is a device, or the first stream of the inputs with its numbers.
constexpr uint32_t kDeviceTarget = 1u << 31;

// CUPTI's number for no stream: its invalid value, or 0.
bool IsStream(uint32_t stream) { return stream != 0 && stream != UINT32_MAX; }

}  // namespace

// Records of synchronisation name a context and no device (0). A context is one device's, which its
// work names.
SyncWaits::SyncWaits(const std::vector<GpuInput>& inputs) : inputs_(inputs) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> first;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    uint32_t* const device = &device_of_context_[inputs[i].context];
    *device = std::max(*device, inputs[i].device);
    first_.push_back(
        first.emplace(std::pair(inputs[i].context, inputs[i].stream), i).first->second);
  }
}

void SyncWaits::Add(SyncKind kind, uint32_t path, uint32_t stream, int64_t start_ns,
                    int64_t end_ns) {
  const uint64_t key = MakeSyncKey(kind, path);
  SyncRow* const row = rows_.FindOrAdd(key);
  ++row->count;
  row->duration_ns += end_ns - start_ns;
  if (kind == SyncKind::kStreamWaitEvent || kind == SyncKind::kOther) return;
  const uint32_t target = TargetOf(kind, stream);
  readings_.push_back({target, static_cast<uint32_t>(key), 0, start_ns});
  readings_.push_back({target, static_cast<uint32_t>(key), 1, end_ns});
}

uint32_t SyncWaits::DeviceOf(uint32_t stream) const {
  return device_of_context_.at(inputs_[stream].context);
}

uint32_t SyncWaits::TargetOf(SyncKind kind, uint32_t stream) const {
  if (kind == SyncKind::kDevice || !IsStream(inputs_[stream].stream)) {
    return kDeviceTarget | DeviceOf(stream);
  }
  return first_[stream];
}

std::vector<uint32_t> SyncWaits::StreamsOf(uint32_t target) const {
  std::vector<uint32_t> streams;
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    const bool of_device = (kDeviceTarget | DeviceOf(i)) == target;
    if (of_device || first_[i] == target) streams.push_back(i);
  }
  return streams;
}

bool SyncWaits::IsBefore(const Reading& one, const Reading& other) {
  return std::tie(one.target, one.time_ns) < std::tie(other.target, other.time_ns);
}

void SyncWaits::Resolve(const RecordedTime& recorded) {
  std::sort(readings_.begin(), readings_.end(), IsBefore);
  for (const Reading* reading = readings_.begin(); reading != readings_.end();) {
    const uint32_t target = reading->target;
    BusyTime busy(inputs_, StreamsOf(target), recorded);
    int64_t busy_ns = 0;
    for (; reading != readings_.end() && reading->target == target; ++reading) {
      busy_ns += busy.AdvanceTo(reading->time_ns);
      rows_.FindOrAdd(reading->key)->waiting_ns += reading->is_end ? busy_ns : -busy_ns;
    }
  }
}

}  // namespace rlscope::analysis
