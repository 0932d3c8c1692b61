// CUPTI's binary interface, as far as rlscope uses it: own declarations. Records only ever grew at
// their end: the offsets of these prefixes, and all numbers, are the same in every release from
// 11.7 to 13.5 (make test-cupti compares them with the headers of 17 of them). Records are walked
// with cuptiActivityGetNextRecord, so their sizes do not matter.
#ifndef RLSCOPE_CUPTI_TYPES_H_
#define RLSCOPE_CUPTI_TYPES_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::cupti {

using CuptiResult = int;
using CuptiSubscriber = void*;

constexpr CuptiResult kCuptiSuccess = 0;
constexpr CuptiResult kCuptiNotCompatible = 14;
constexpr CuptiResult kCuptiNotInitialized = 15;
constexpr CuptiResult kCuptiVirtualisedDevice = 33;
constexpr CuptiResult kCuptiInsufficientPrivileges = 35;
constexpr CuptiResult kCuptiSubscribersNotSupported = 39;
constexpr CuptiResult kCuptiVirtualisedDevicePrivileges = 40;
constexpr CuptiResult kCuptiConfidentialComputing = 41;
constexpr CuptiResult kCuptiMiningDevice = 42;
constexpr CuptiResult kCuptiInstance = 43;
constexpr CuptiResult kCuptiLinkedDevices = 44;
constexpr CuptiResult kCuptiWindowsSubsystem = 45;
constexpr CuptiResult kCuptiUnknown = 999;

enum CallbackDomain : uint32_t { kDriverApi = 1, kRuntimeApi = 2, kResource = 3 };
enum CallbackSite : uint32_t { kEnter = 0, kExit = 1 };
constexpr uint32_t kModuleUnloadStarting = 7;  // callback id of kResource

struct CallbackData {
  uint32_t site;
  uint32_t padding0;
  const char* function_name;
  const void* parameters;
  const int* return_value;  // at kExit: CUresult or cudaError_t
  const char* symbol_name;
  void* context;
  uint32_t context_id;
  uint32_t padding1;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};
static_assert(offsetof(CallbackData, context) == 40);
static_assert(offsetof(CallbackData, context_id) == 48);
static_assert(offsetof(CallbackData, correlation_data) == 56);
static_assert(offsetof(CallbackData, correlation_id) == 64);

// What cuptiSubscribe_v2() takes, from 13.0 on.
struct SubscriberParameters {
  size_t size;
  const char* name;
  char* holder;  // whose the subscription is, where it is somebody else's
  size_t holder_size;
};
constexpr size_t kSubscriberNameBytes = 64;

enum ActivityKind : uint32_t {
  kActivityMemcpy = 1,
  kActivityMemset = 2,
  kActivityKernel = 3,
  kActivityConcurrentKernel = 10,
  kActivityOverhead = 17,
  kActivityMemcpyPeer = 22,
  kActivitySynchronization = 38,
  kActivityGraphTrace = 51,
};

struct ActivityKernel {
  uint32_t kind;
  uint8_t cache_configuration;
  uint8_t shared_memory_configuration;
  uint16_t registers;
  uint32_t partition_requested;
  uint32_t partition_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared_memory;
  int32_t dynamic_shared_memory;
  uint32_t local_per_thread;
  uint32_t local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t shared_memory_requested;
  uint16_t padding0;
  uint32_t shared_memory_executed;
  uint64_t graph_node;
  uint32_t shared_memory_limit;
  uint32_t graph;
};
static_assert(offsetof(ActivityKernel, registers) == 6);
static_assert(offsetof(ActivityKernel, start) == 16);
static_assert(offsetof(ActivityKernel, device) == 40);
static_assert(offsetof(ActivityKernel, grid) == 52);
static_assert(offsetof(ActivityKernel, static_shared_memory) == 76);
static_assert(offsetof(ActivityKernel, correlation) == 92);
static_assert(offsetof(ActivityKernel, name) == 104);
static_assert(offsetof(ActivityKernel, graph_node) == 144);
static_assert(offsetof(ActivityKernel, graph) == 156);

struct ActivityMemcpy {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint32_t runtime_correlation;
  uint32_t padding0;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
};
static_assert(offsetof(ActivityMemcpy, start) == 16);
static_assert(offsetof(ActivityMemcpy, correlation) == 44);
static_assert(offsetof(ActivityMemcpy, graph_node) == 64);
static_assert(offsetof(ActivityMemcpy, graph) == 72);

struct ActivityMemcpyPeer {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t source_device;
  uint32_t source_context;
  uint32_t destination_device;
  uint32_t destination_context;
  uint32_t correlation;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
};
static_assert(offsetof(ActivityMemcpyPeer, source_device) == 44);
static_assert(offsetof(ActivityMemcpyPeer, correlation) == 60);
static_assert(offsetof(ActivityMemcpyPeer, graph) == 80);

struct ActivityMemset {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t padding0;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
};
static_assert(offsetof(ActivityMemset, correlation) == 44);
static_assert(offsetof(ActivityMemset, memory_kind) == 50);
static_assert(offsetof(ActivityMemset, graph) == 72);

struct ActivitySynchronization {
  uint32_t kind;
  uint32_t type;
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t context;
  uint32_t stream;
  uint32_t event;
};
static_assert(offsetof(ActivitySynchronization, correlation) == 24);

struct ActivityGraphTrace {
  uint32_t kind;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t graph;
  uint32_t context;
  uint32_t stream;
};
static_assert(offsetof(ActivityGraphTrace, stream) == 36);

struct ActivityOverhead {
  uint32_t kind;
  uint32_t overhead_kind;
  uint32_t object_kind;
  uint32_t padding[3];
  uint64_t start;
  uint64_t end;
};
static_assert(offsetof(ActivityOverhead, start) == 24);

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_TYPES_H_
