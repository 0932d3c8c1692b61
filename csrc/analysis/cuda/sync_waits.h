// How long calls that synchronise waited: their overlap with the GPU work that they wait for
// (docs/reference/semantics-notes.md#synchronisation).
#ifndef RLSCOPE_ANALYSIS_CUDA_SYNC_WAITS_H_
#define RLSCOPE_ANALYSIS_CUDA_SYNC_WAITS_H_

#include <stdint.h>

#include <map>
#include <vector>

#include "analysis/process/recorded_time.h"
#include "analysis/process/source.h"
#include "analysis/spill/spill_table.h"
#include "analysis/spill/spill_vector.h"

namespace rlscope::analysis {

// CUPTI's numbers of what a synchronisation is.
enum class SyncKind : uint32_t {
  kOther = 0,
  kEvent = 1,
  kStreamWaitEvent = 2,  // of the GPU: the call itself waits for nothing
  kStream = 3,
  kDevice = 4,  // or context, of which a device has one
};
constexpr uint32_t kSyncKinds = 5;

struct SyncRow {
  uint64_t key;  // MakeSyncKey
  uint64_t count;
  int64_t duration_ns;
  int64_t waiting_ns;

  SyncKind kind() const { return static_cast<SyncKind>((key - 1) / (kPathMask + 1)); }
  uint32_t path() const { return static_cast<uint32_t>(key - 1) & kPathMask; }
};
constexpr uint64_t MakeSyncKey(SyncKind kind, uint32_t path) {
  return uint64_t{static_cast<uint32_t>(kind)} * (kPathMask + 1) + path + 1;
}

class SyncWaits {
 public:
  // `inputs` must outlive it.
  explicit SyncWaits(const std::vector<GpuInput>& inputs);

  // The call [start_ns, end_ns) synchronised; its record lies in stream `stream` of the inputs.
  void Add(SyncKind kind, uint32_t path, uint32_t stream, int64_t start_ns, int64_t end_ns);

  // All calls were added: reads the GPU's work again, as far as some call waited for it.
  void Resolve(const RecordedTime& recorded);

  const SpillTable<SyncRow>& rows() const { return rows_; }

 private:
  // Busy time at the end of a call less that at its start is what overlaps.
  struct Reading {
    uint32_t target;
    uint32_t key : 31;
    uint32_t is_end : 1;
    int64_t time_ns;
  };
  static bool IsBefore(const Reading& one, const Reading& other);

  uint32_t TargetOf(SyncKind kind, uint32_t stream) const;
  std::vector<uint32_t> StreamsOf(uint32_t target) const;
  uint32_t DeviceOf(uint32_t stream) const;

  const std::vector<GpuInput>& inputs_;
  std::map<uint32_t, uint32_t> device_of_context_;
  std::vector<uint32_t> first_;  // of the inputs with the numbers of each
  SpillTable<SyncRow> rows_;
  SpillVector<Reading> readings_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_SYNC_WAITS_H_
