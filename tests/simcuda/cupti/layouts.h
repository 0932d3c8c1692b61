// Where the fields of CUPTI's activity records lie and how wide they are: the same in all of the 17
// releases of core/cupti_versions.h, of which older ones end before some. A namespace is an
// activity kind, a field has NVIDIA's name; make test-cupti compares them with the headers.
#ifndef SIMCUDA_CUPTI_LAYOUTS_H_
#define SIMCUDA_CUPTI_LAYOUTS_H_

#include <cstdint>

namespace simcuda {

struct Field {
  uint16_t offset;
  uint16_t bytes;
};

namespace kernel {  // KERNEL
constexpr Field kRegistersPerThread = {6, 2};
constexpr Field kStart = {16, 8};
constexpr Field kEnd = {24, 8};
constexpr Field kCompleted = {32, 8};
constexpr Field kDeviceId = {40, 4};
constexpr Field kContextId = {44, 4};
constexpr Field kStreamId = {48, 4};
constexpr Field kGridX = {52, 4};
constexpr Field kGridY = {56, 4};
constexpr Field kGridZ = {60, 4};
constexpr Field kBlockX = {64, 4};
constexpr Field kBlockY = {68, 4};
constexpr Field kBlockZ = {72, 4};
constexpr Field kStaticSharedMemory = {76, 4};
constexpr Field kDynamicSharedMemory = {80, 4};
constexpr Field kCorrelationId = {92, 4};
constexpr Field kGridId = {96, 8};
constexpr Field kName = {104, 8};
constexpr Field kGraphNodeId = {144, 8};
constexpr Field kGraphId = {156, 4};
}  // namespace kernel

namespace copy {  // MEMCPY
constexpr Field kCopyKind = {4, 1};
constexpr Field kSrcKind = {5, 1};
constexpr Field kDstKind = {6, 1};
constexpr Field kFlags = {7, 1};
constexpr Field kBytes = {8, 8};
constexpr Field kStart = {16, 8};
constexpr Field kEnd = {24, 8};
constexpr Field kDeviceId = {32, 4};
constexpr Field kContextId = {36, 4};
constexpr Field kStreamId = {40, 4};
constexpr Field kCorrelationId = {44, 4};
constexpr Field kGraphNodeId = {64, 8};
constexpr Field kGraphId = {72, 4};
constexpr Field kCopyCount = {88, 8};
}  // namespace copy

namespace peer_copy {  // MEMCPY2
constexpr Field kCopyKind = {4, 1};
constexpr Field kSrcKind = {5, 1};
constexpr Field kDstKind = {6, 1};
constexpr Field kFlags = {7, 1};
constexpr Field kBytes = {8, 8};
constexpr Field kStart = {16, 8};
constexpr Field kEnd = {24, 8};
constexpr Field kDeviceId = {32, 4};
constexpr Field kContextId = {36, 4};
constexpr Field kStreamId = {40, 4};
constexpr Field kSrcDeviceId = {44, 4};
constexpr Field kSrcContextId = {48, 4};
constexpr Field kDstDeviceId = {52, 4};
constexpr Field kDstContextId = {56, 4};
constexpr Field kCorrelationId = {60, 4};
constexpr Field kGraphNodeId = {72, 8};
constexpr Field kGraphId = {80, 4};
}  // namespace peer_copy

namespace set {  // MEMSET
constexpr Field kValue = {4, 4};
constexpr Field kBytes = {8, 8};
constexpr Field kStart = {16, 8};
constexpr Field kEnd = {24, 8};
constexpr Field kDeviceId = {32, 4};
constexpr Field kContextId = {36, 4};
constexpr Field kStreamId = {40, 4};
constexpr Field kCorrelationId = {44, 4};
constexpr Field kFlags = {48, 2};
constexpr Field kMemoryKind = {50, 2};
constexpr Field kGraphNodeId = {64, 8};
constexpr Field kGraphId = {72, 4};
}  // namespace set

namespace synchronization {  // SYNCHRONIZATION
constexpr Field kType = {4, 4};
constexpr Field kStart = {8, 8};
constexpr Field kEnd = {16, 8};
constexpr Field kCorrelationId = {24, 4};
constexpr Field kContextId = {28, 4};
constexpr Field kStreamId = {32, 4};
constexpr Field kCudaEventId = {36, 4};
}  // namespace synchronization

namespace graph {  // GRAPH_TRACE
constexpr Field kCorrelationId = {4, 4};
constexpr Field kStart = {8, 8};
constexpr Field kEnd = {16, 8};
constexpr Field kDeviceId = {24, 4};
constexpr Field kGraphId = {28, 4};
constexpr Field kContextId = {32, 4};
constexpr Field kStreamId = {36, 4};
constexpr Field kEndDeviceId = {48, 4};
constexpr Field kEndContextId = {52, 4};
}  // namespace graph

namespace api {  // RUNTIME
constexpr Field kCbid = {4, 4};
constexpr Field kStart = {8, 8};
constexpr Field kEnd = {16, 8};
constexpr Field kProcessId = {24, 4};
constexpr Field kThreadId = {28, 4};
constexpr Field kCorrelationId = {32, 4};
constexpr Field kReturnValue = {36, 4};
}  // namespace api

namespace external {  // EXTERNAL_CORRELATION
constexpr Field kExternalKind = {4, 4};
constexpr Field kExternalId = {8, 8};
constexpr Field kCorrelationId = {16, 4};
}  // namespace external

namespace overhead {  // OVERHEAD
constexpr Field kOverheadKind = {4, 4};
constexpr Field kObjectKind = {8, 4};
constexpr Field kProcessId = {12, 4};  // objectId.pt.processId
constexpr Field kThreadId = {16, 4};   // objectId.pt.threadId
constexpr Field kStart = {24, 8};
constexpr Field kEnd = {32, 8};
}  // namespace overhead

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_LAYOUTS_H_
