// What the three test doubles share: libcuda.so.1 owns it, libcudart and libcupti reach it through
// simcuda_core().
#ifndef SIMCUDA_CORE_INTERFACE_H_
#define SIMCUDA_CORE_INTERFACE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace simcuda {

enum Domain : uint32_t { kDriver = 1, kRuntime = 2 };  // CUPTI's numbers of the two API domains

constexpr uint32_t kCbids = 1024;  // more than any CUPTI up to 13.5 has in one domain

struct ApiFunction {
  const char* name;
  Domain domain;
  uint32_t cbid;  // 0: CUPTI has no number for it
};

// One call of an API function, from enter to exit; lives on the caller's stack.
struct ApiCall {
  const ApiFunction* function;
  const char* symbol;    // the kernel's name, where the call launches one
  uint32_t correlation;  // that of the outermost call
  uint32_t depth;        // 0: called by the program, 1: called inside another call
  uint32_t context_id;
  void* context;
  uint64_t enter_ns;  // right before the enter callback, as exit_ns is right after the exit one
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t exit_ns;
  bool enter_switched;  // the thread was off the CPU between its reading before and start_ns
  bool exit_switched;   // the same for exit_ns
  int status;
  uint8_t watched;            // what of kCallback and kRecord was on at enter
  uint64_t correlation_data;  // the word CUPTI keeps for the client between enter and exit
};

enum Watched : uint8_t { kCallback = 1, kRecord = 2 };

enum class OperationKind : uint32_t {  // numbers are CUPTI's activity kinds where it has one
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 10,
  kPeerMemcpy = 22,
  kSync = 38,
  kGraph = 51,
  kHostFunction = 1000,
};

enum Direction : uint8_t {
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeer = 10
};

enum class MemoryKind : uint8_t {
  kUnknown = 0,
  kPageable = 1,
  kPinned = 2,
  kDevice = 3,
  kManaged = 5
};

enum SyncType : uint32_t {
  kEventSync = 1,
  kStreamWaitEvent = 2,
  kStreamSync = 3,
  kContextSync = 4
};

constexpr uint32_t kNoId = 0xffffffffu;  // stream or event of a synchronisation that has none

// What the simulated device did, or will have done: both times are known when the work is
// submitted.
struct DeviceOperation {
  OperationKind kind;
  uint32_t correlation;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t thread;  // that submitted it
  uint64_t start_ns;
  uint64_t end_ns;
  const char* name;  // of a kernel; valid for the life of the process
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint32_t registers;
  uint32_t graph;  // 0: not launched by a graph
  uint64_t node;
  uint64_t bytes;
  uint32_t value;  // of a memset
  bool asynchronous;
  Direction direction;
  MemoryKind source;
  MemoryKind destination;
  uint32_t source_device;
  uint32_t source_context;
  uint32_t destination_device;
  uint32_t destination_context;
  SyncType sync;
  uint32_t event;
};

enum ResourceCbid : uint32_t {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kStreamCreated = 3,
  kStreamDestroyStarting = 4,
  kInitFinished = 5,
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
};

// Filled by libcupti when a client first uses it; every pointer is null before.
struct Tools {
  std::atomic<void (*)(ApiCall* call, bool enter)> call;
  std::atomic<void (*)(const DeviceOperation& operation)> operation;
  std::atomic<void (*)(ResourceCbid cbid, void* context, void* resource)> resource;
  std::atomic<void (*)()> attached;         // what each call of the program does besides
  std::atomic<uint8_t> watched[3][kCbids];  // Watched by domain and cbid
  std::atomic<bool> traces_graphs;          // launches of graphs are traced, as one piece of work
};

// [MT] All of it may be called from any thread.
struct Core {
  Tools tools;
  uint64_t (*now_ns)();  // CLOCK_MONOTONIC
  uint32_t (*thread_id)();
  bool (*forked)();  // in the child of a fork that followed cuInit, where CUDA does not work
  void (*begin_call)(ApiCall* call);
  void (*end_call)(ApiCall* call, int status);
  uint32_t (*stream_id)(void* stream);
  uint32_t (*context_id)(void* context);
  uint64_t (*device_clock_ns)(
      uint64_t now_ns);  // the simulated GPU's own clock, with drift and skew
  void (*write_truth)(const char* line, size_t size);
};

}  // namespace simcuda

SIM_EXPORT simcuda::Core* simcuda_core();

#endif  // SIMCUDA_CORE_INTERFACE_H_
