// Activity records as bytes, in the layout of the release that SIMCUPTI_VERSION names.
#ifndef SIMCUDA_CUPTI_RECORDS_H_
#define SIMCUDA_CUPTI_RECORDS_H_

#include <cstdint>
#include <vector>

#include "core/interface.h"

namespace simcuda {

enum ActivityKind : uint32_t {
  kMemcpyKind = 1,
  kMemsetKind = 2,
  kKernelKind = 3,
  kDriverKind = 4,
  kRuntimeKind = 5,
  kConcurrentKernelKind = 10,
  kOverheadKind = 17,
  kPeerMemcpyKind = 22,
  kSynchronizationKind = 38,
  kExternalCorrelationKind = 39,
  kGraphTraceKind = 51,
  kLastKind = 63,
};

constexpr uint32_t kBufferFlush = 1 << 16;  // kind of an overhead
constexpr uint32_t kThreadObject = 2;       // what an overhead was in

using Bytes = std::vector<uint8_t>;

struct Overhead {
  uint32_t kind;
  uint64_t start;
  uint64_t end;
  uint32_t thread;
};

// Times of operations are converted; the others are on the records' clock already.
Bytes OperationRecord(const DeviceOperation& operation, uint32_t kernel_kind, bool finished);
Bytes ApiRecord(const ApiCall& call, uint64_t start, uint64_t end, uint32_t thread);
Bytes ExternalCorrelationRecord(uint32_t kind, uint64_t id, uint32_t correlation);
Bytes OverheadRecord(const Overhead& overhead);

// Bytes of a record of this kind, padding included; 0: the test double makes none.
size_t RecordBytes(uint32_t kind);

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_RECORDS_H_
