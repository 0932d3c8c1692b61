#include "cupti/records.h"

#include <unistd.h>

#include <cstring>

#include "cupti/layouts.h"
#include "cupti/replay.h"
#include "cupti/settings.h"
#include "cupti/subscriber.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

constexpr size_t kAlignment = 8;  // records follow each other at multiples of it

// One record being written: zeroes but for what is put.
class Record {
 public:
  explicit Record(uint32_t kind) : bytes_(RecordBytes(kind)) { Put({0, 4}, kind); }

  // A field beyond the release's end is left out.
  void Put(Field field, uint64_t value) {
    if (field.offset + field.bytes > bytes_.size()) return;
    memcpy(bytes_.data() + field.offset, &value, field.bytes);
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
  record.Put(kernel::kRegistersPerThread, operation.registers);
  record.Put(kernel::kStart, times.start);
  record.Put(kernel::kEnd, times.end);
  record.Put(kernel::kCompleted, times.end);
  record.Put(kernel::kDeviceId, operation.device);
  record.Put(kernel::kContextId, operation.context);
  record.Put(kernel::kStreamId, operation.stream);
  record.Put(kernel::kGridX, operation.grid[0]);
  record.Put(kernel::kGridY, operation.grid[1]);
  record.Put(kernel::kGridZ, operation.grid[2]);
  record.Put(kernel::kBlockX, operation.block[0]);
  record.Put(kernel::kBlockY, operation.block[1]);
  record.Put(kernel::kBlockZ, operation.block[2]);
  record.Put(kernel::kStaticSharedMemory, operation.static_shared_bytes);
  record.Put(kernel::kDynamicSharedMemory, operation.dynamic_shared_bytes);
  record.Put(kernel::kCorrelationId, ClientCorrelation(operation.correlation));
  record.Put(kernel::kGridId, operation.correlation);
  record.Put(kernel::kName, reinterpret_cast<uint64_t>(operation.name));
  record.Put(kernel::kGraphNodeId, operation.node);
  record.Put(kernel::kGraphId, operation.graph);
  return record.Take();
}

Bytes MemcpyRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kMemcpyKind);
  record.Put(copy::kCopyKind, operation.direction);
  record.Put(copy::kSrcKind, static_cast<uint64_t>(operation.source));
  record.Put(copy::kDstKind, static_cast<uint64_t>(operation.destination));
  record.Put(copy::kFlags, operation.asynchronous);
  record.Put(copy::kBytes, operation.bytes);
  record.Put(copy::kStart, times.start);
  record.Put(copy::kEnd, times.end);
  record.Put(copy::kDeviceId, operation.device);
  record.Put(copy::kContextId, operation.context);
  record.Put(copy::kStreamId, operation.stream);
  record.Put(copy::kCorrelationId, ClientCorrelation(operation.correlation));
  record.Put(copy::kGraphNodeId, operation.node);
  record.Put(copy::kGraphId, operation.graph);
  record.Put(copy::kCopyCount, 1);
  return record.Take();
}

Bytes PeerMemcpyRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kPeerMemcpyKind);
  record.Put(peer_copy::kCopyKind, operation.direction);
  record.Put(peer_copy::kSrcKind, static_cast<uint64_t>(operation.source));
  record.Put(peer_copy::kDstKind, static_cast<uint64_t>(operation.destination));
  record.Put(peer_copy::kFlags, operation.asynchronous);
  record.Put(peer_copy::kBytes, operation.bytes);
  record.Put(peer_copy::kStart, times.start);
  record.Put(peer_copy::kEnd, times.end);
  record.Put(peer_copy::kDeviceId, operation.device);
  record.Put(peer_copy::kContextId, operation.context);
  record.Put(peer_copy::kStreamId, operation.stream);
  record.Put(peer_copy::kSrcDeviceId, operation.source_device);
  record.Put(peer_copy::kSrcContextId, operation.source_context);
  record.Put(peer_copy::kDstDeviceId, operation.destination_device);
  record.Put(peer_copy::kDstContextId, operation.destination_context);
  record.Put(peer_copy::kCorrelationId, ClientCorrelation(operation.correlation));
  record.Put(peer_copy::kGraphNodeId, operation.node);
  record.Put(peer_copy::kGraphId, operation.graph);
  return record.Take();
}

Bytes MemsetRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kMemsetKind);
  record.Put(set::kValue, operation.value);
  record.Put(set::kBytes, operation.bytes);
  record.Put(set::kStart, times.start);
  record.Put(set::kEnd, times.end);
  record.Put(set::kDeviceId, operation.device);
  record.Put(set::kContextId, operation.context);
  record.Put(set::kStreamId, operation.stream);
  record.Put(set::kCorrelationId, ClientCorrelation(operation.correlation));
  record.Put(set::kFlags, operation.asynchronous);
  record.Put(set::kMemoryKind, static_cast<uint64_t>(operation.destination));
  record.Put(set::kGraphNodeId, operation.node);
  record.Put(set::kGraphId, operation.graph);
  return record.Take();
}

Bytes SynchronizationRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kSynchronizationKind);
  record.Put(synchronization::kType, operation.sync);
  record.Put(synchronization::kStart, times.start);
  record.Put(synchronization::kEnd, times.end);
  record.Put(synchronization::kCorrelationId, ClientCorrelation(operation.correlation));
  record.Put(synchronization::kContextId, operation.context);
  record.Put(synchronization::kStreamId, operation.stream);
  record.Put(synchronization::kCudaEventId, operation.event);
  return record.Take();
}

Bytes GraphRecord(const DeviceOperation& operation, const Times& times) {
  Record record(kGraphTraceKind);
  record.Put(graph::kCorrelationId, ClientCorrelation(operation.correlation));
  record.Put(graph::kStart, times.start);
  record.Put(graph::kEnd, times.end);
  record.Put(graph::kDeviceId, operation.device);
  record.Put(graph::kGraphId, operation.graph);
  record.Put(graph::kContextId, operation.context);
  record.Put(graph::kStreamId, operation.stream);
  record.Put(graph::kEndDeviceId, operation.device);
  record.Put(graph::kEndContextId, operation.context);
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
  record.Put(api::kCbid, call.function->cbid);
  record.Put(api::kStart, start);
  record.Put(api::kEnd, end);
  record.Put(api::kProcessId, static_cast<uint64_t>(getpid()));
  record.Put(api::kThreadId, thread);
  record.Put(api::kCorrelationId, ClientCorrelation(call.correlation));
  record.Put(api::kReturnValue, static_cast<uint64_t>(call.status));
  return record.Take();
}

Bytes ExternalCorrelationRecord(uint32_t kind, uint64_t id, uint32_t correlation) {
  Record record(kExternalCorrelationKind);
  record.Put(external::kExternalKind, kind);
  record.Put(external::kExternalId, id);
  record.Put(external::kCorrelationId, ClientCorrelation(correlation));
  return record.Take();
}

Bytes OverheadRecord(const Overhead& overhead) {
  Record record(kOverheadKind);
  record.Put(overhead::kOverheadKind, overhead.kind);
  record.Put(overhead::kObjectKind, kThreadObject);
  record.Put(overhead::kProcessId, static_cast<uint64_t>(getpid()));
  record.Put(overhead::kThreadId, overhead.thread);
  record.Put(overhead::kStart, overhead.start);
  record.Put(overhead::kEnd, overhead.end);
  return record.Take();
}

}  // namespace simcuda
