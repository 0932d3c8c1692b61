// Offsets: offsetof in the headers of the 17 releases of core/cupti_versions.h. A field has one
// offset in all of them; releases differ in how many bytes follow, and a field beyond a release's
// end is left out.
#include "cupti/records.h"

#include <unistd.h>

#include <cstring>

#include "cupti/replay.h"
#include "cupti/settings.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

constexpr size_t kAlignment = 8;  // records follow each other at multiples of it

// One record being written: zeroes but for what is put.
class Record {
 public:
  explicit Record(uint32_t kind) : bytes_(RecordBytes(kind)) { Put(0, kind); }

  template <class T>
  void Put(size_t offset, T value) {
    if (offset + sizeof(T) <= bytes_.size()) memcpy(bytes_.data() + offset, &value, sizeof(T));
  }

  void PutThree(size_t offset, const uint32_t (&values)[3]) {
    for (size_t i = 0; i < 3; ++i) Put(offset + 4 * i, values[i]);
  }

  Bytes Take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// An operation that a forced flush catches unfinished has no times yet.
struct Times {
  uint64_t start;
  uint64_t end;
};

Bytes KernelRecord(const DeviceOperation& operation, uint32_t kind, const Times& times) {
  Record record(kind);
  record.Put(6, static_cast<uint16_t>(operation.registers));
  record.Put(16, times.start);
  record.Put(24, times.end);
  record.Put(32, times.end);  // completed
  record.Put(40, operation.device);
  record.Put(44, operation.context);
  record.Put(48, operation.stream);
  record.PutThree(52, operation.grid);
  record.PutThree(64, operation.block);
  record.Put(76, operation.static_shared_bytes);
  record.Put(80, operation.dynamic_shared_bytes);
  record.Put(92, operation.correlation);
  record.Put(96, uint64_t{operation.correlation});  // grid id
  record.Put(104, operation.name);
  record.Put(144, operation.node);
  record.Put(156, operation.graph);
  return record.Take();
}

// What copies begin with, between devices or not.
Record CopyRecord(const DeviceOperation& operation, uint32_t kind, const Times& times) {
  Record record(kind);
  record.Put(4, static_cast<uint8_t>(operation.direction));
  record.Put(5, static_cast<uint8_t>(operation.source));
  record.Put(6, static_cast<uint8_t>(operation.destination));
  record.Put(7, static_cast<uint8_t>(operation.asynchronous));
  record.Put(8, operation.bytes);
  record.Put(16, times.start);
  record.Put(24, times.end);
  record.Put(32, operation.device);
  record.Put(36, operation.context);
  record.Put(40, operation.stream);
  return record;
}

Bytes MemcpyRecord(const DeviceOperation& operation, const Times& times) {
  Record record = CopyRecord(operation, kMemcpyKind, times);
  record.Put(44, operation.correlation);
  record.Put(64, operation.node);
  record.Put(72, operation.graph);
  record.Put(88, uint64_t{1});  // copies, since 12.8
  return record.Take();
}

Bytes PeerMemcpyRecord(const DeviceOperation& operation, const Times& times) {
  Record record = CopyRecord(operation, kPeerMemcpyKind, times);
  record.Put(44, operation.source_device);
  record.Put(48, operation.source_context);
  record.Put(52, operation.destination_device);
  record.Put(56, operation.destination_context);
  record.Put(60, operation.correlation);
  record.Put(72, operation.node);
  record.Put(80, operation.graph);
  return record.Take();
}

Bytes MemsetRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kMemsetKind);
  record.Put(4, operation.value);
  record.Put(8, operation.bytes);
  record.Put(16, times.start);
  record.Put(24, times.end);
  record.Put(32, operation.device);
  record.Put(36, operation.context);
  record.Put(40, operation.stream);
  record.Put(44, operation.correlation);
  record.Put(48, static_cast<uint16_t>(operation.asynchronous));
  record.Put(50, static_cast<uint16_t>(operation.destination));
  record.Put(64, operation.node);
  record.Put(72, operation.graph);
  return record.Take();
}

Bytes SynchronizationRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kSynchronizationKind);
  record.Put(4, static_cast<uint32_t>(operation.sync));
  record.Put(8, times.start);
  record.Put(16, times.end);
  record.Put(24, operation.correlation);
  record.Put(28, operation.context);
  record.Put(32, operation.stream);
  record.Put(36, operation.event);
  return record.Take();
}

Bytes GraphRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kGraphTraceKind);
  record.Put(4, operation.correlation);
  record.Put(8, times.start);
  record.Put(16, times.end);
  record.Put(24, operation.device);
  record.Put(28, operation.graph);
  record.Put(32, operation.context);
  record.Put(36, operation.stream);
  record.Put(48, operation.device);  // where it ended, since 12.3
  record.Put(52, operation.context);
  return record.Take();
}

}  // namespace

size_t RecordBytes(uint32_t kind) {
  if (Replays()) return ReplayedBytes(kind);
  const CuptiVersion& version = *GetSettings().version;
  size_t bytes = 0;
  switch (kind) {
    case kMemcpyKind:
      bytes = version.memcpy_bytes;
      break;
    case kMemsetKind:
      bytes = version.memset_bytes;
      break;
    case kKernelKind:
    case kConcurrentKernelKind:
      bytes = version.kernel_bytes;
      break;
    case kDriverKind:
    case kRuntimeKind:
      bytes = version.api_bytes;
      break;
    case kOverheadKind:
      bytes = version.overhead_bytes;
      break;
    case kPeerMemcpyKind:
      bytes = version.peer_memcpy_bytes;
      break;
    case kSynchronizationKind:
      bytes = version.synchronization_bytes;
      break;
    case kExternalCorrelationKind:
      bytes = version.external_bytes;
      break;
    case kGraphTraceKind:
      bytes = version.graph_bytes;
      break;
    default:
      break;
  }
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Bytes OperationRecord(const DeviceOperation& operation, uint32_t kernel_kind, bool finished) {
  Times times = {0, 0};
  auto convert = operation.kind == OperationKind::kSync ? HostTimestamp : DeviceTimestamp;
  if (finished) times = {convert(operation.start_ns), convert(operation.end_ns)};
  switch (operation.kind) {
    case OperationKind::kKernel:
      return KernelRecord(operation, kernel_kind, times);
    case OperationKind::kMemcpy:
      return MemcpyRecord(operation, times);
    case OperationKind::kPeerMemcpy:
      return PeerMemcpyRecord(operation, times);
    case OperationKind::kMemset:
      return MemsetRecord(operation, times);
    case OperationKind::kSync:
      return SynchronizationRecord(operation, times);
    case OperationKind::kGraph:
      return GraphRecord(operation, times);
    case OperationKind::kHostFunction:
      break;
  }
  return {};
}

Bytes ApiRecord(const ApiCall& call, uint64_t start, uint64_t end, uint32_t thread) {
  Record record(call.function->domain == kDriver ? kDriverKind : kRuntimeKind);
  record.Put(4, call.function->cbid);
  record.Put(8, start);
  record.Put(16, end);
  record.Put(24, static_cast<uint32_t>(getpid()));
  record.Put(28, thread);
  record.Put(32, call.correlation);
  record.Put(36, static_cast<uint32_t>(call.status));
  return record.Take();
}

Bytes ExternalCorrelationRecord(uint32_t kind, uint64_t id, uint32_t correlation) {
  Record record(kExternalCorrelationKind);
  record.Put(4, kind);
  record.Put(8, id);
  record.Put(16, correlation);
  return record.Take();
}

Bytes OverheadRecord(const Overhead& overhead) {
  constexpr uint32_t kThreadObject = 2;
  Record record(kOverheadKind);
  record.Put(4, overhead.kind);
  record.Put(8, kThreadObject);
  record.Put(12, static_cast<uint32_t>(getpid()));  // objectId: of a thread, process and thread
  record.Put(16, overhead.thread);
  record.Put(24, overhead.start);
  record.Put(32, overhead.end);
  return record.Take();
}

}  // namespace simcuda
