#include "core/truth.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "core/cupti_versions.h"
#include "core/knobs.h"
#include "core/machine_devices.h"

namespace simcuda {
namespace {

int truth_fd = -1;

const char* KindName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kMemcpy:
      return "memcpy";
    case OperationKind::kMemset:
      return "memset";
    case OperationKind::kKernel:
      return "kernel";
    case OperationKind::kPeerMemcpy:
      return "peer_memcpy";
    case OperationKind::kSync:
      return "sync";
    case OperationKind::kGraph:
      return "graph";
    case OperationKind::kHostFunction:
      return "host_function";
  }
  return "unknown";
}

const char* DirectionName(Direction direction) {
  switch (direction) {
    case kHostToDevice:
      return "HtoD";
    case kDeviceToHost:
      return "DtoH";
    case kDeviceToDevice:
      return "DtoD";
    case kHostToHost:
      return "HtoH";
    case kPeer:
      return "PtoP";
  }
  return "unknown";
}

const char* MemoryName(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kPageable:
      return "pageable";
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kDevice:
      return "device";
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kUnknown:
      break;
  }
  return "unknown";
}

const char* SyncName(SyncType type) {
  switch (type) {
    case kEventSync:
      return "event";
    case kStreamWaitEvent:
      return "stream_wait_event";
    case kStreamSync:
      return "stream";
    case kContextSync:
      return "context";
  }
  return "unknown";
}

// A JSON object, built in one string.
class Line {
 public:
  explicit Line(const char* type) : text_("{\"type\":\"") { text_.append(type).append("\""); }

  void Add(const char* key, uint64_t value) { Raw(key, std::to_string(value)); }
  void Add(const char* key, bool value) { Raw(key, value ? "true" : "false"); }
  void Add(const char* key, const uint32_t (&value)[3]) {
    Raw(key, "[" + std::to_string(value[0]) + "," + std::to_string(value[1]) + "," +
                 std::to_string(value[2]) + "]");
  }
  void Add(const char* key, const char* value) {
    std::string quoted = "\"";
    for (const char* next = value == nullptr ? "" : value; *next != '\0'; ++next) {
      if (*next == '"' || *next == '\\') quoted += '\\';
      quoted += *next;
    }
    Raw(key, quoted + "\"");
  }
  void AddStatus(int value) { Raw("status", std::to_string(value)); }
  void AddId(const char* key, uint32_t id) {
    id == kNoId ? Raw(key, "null") : Add(key, uint64_t{id});
  }

  void Write() {
    text_ += "}\n";
    WriteTruth(text_.data(), text_.size());
  }

 private:
  void Raw(const char* key, const std::string& value) {
    text_.append(",\"").append(key).append("\":").append(value);
  }

  std::string text_;
};

// Whether the simulated CUPTI release can call back for the function.
bool HasCbid(const ApiFunction& function) {
  static const CuptiVersion& version = FindCuptiVersion(getenv("SIMCUPTI_VERSION"), "13.0");
  uint32_t last = function.domain == kDriver ? version.driver_cbid_max : version.runtime_cbid_max;
  return function.cbid != 0 && function.cbid <= last;
}

void AddThread(uint64_t thread, Line* line) {
  line->Add("pid", static_cast<uint64_t>(getpid()));
  line->Add("tid", thread);
}

void AddKernel(const DeviceOperation& operation, Line* line) {
  line->Add("name", operation.name);
  line->Add("grid", operation.grid);
  line->Add("block", operation.block);
  line->Add("static_shared_bytes", uint64_t{operation.static_shared_bytes});
  line->Add("dynamic_shared_bytes", uint64_t{operation.dynamic_shared_bytes});
  line->Add("registers", uint64_t{operation.registers});
}

void AddCopy(const DeviceOperation& operation, Line* line) {
  line->Add("bytes", operation.bytes);
  line->Add("direction", DirectionName(operation.direction));
  line->Add("source", MemoryName(operation.source));
  line->Add("destination", MemoryName(operation.destination));
  line->Add("source_device", uint64_t{operation.source_device});
  line->Add("destination_device", uint64_t{operation.destination_device});
  line->Add("asynchronous", operation.asynchronous);
}

void AddMemset(const DeviceOperation& operation, Line* line) {
  line->Add("bytes", operation.bytes);
  line->Add("value", uint64_t{operation.value});
  line->Add("destination", MemoryName(operation.destination));
  line->Add("asynchronous", operation.asynchronous);
}

void AddSync(const DeviceOperation& operation, Line* line) {
  line->Add("sync", SyncName(operation.sync));
  line->AddId("event", operation.event);
}

void AddKindsOwn(const DeviceOperation& operation, Line* line) {
  switch (operation.kind) {
    case OperationKind::kKernel:
      return AddKernel(operation, line);
    case OperationKind::kMemcpy:
    case OperationKind::kPeerMemcpy:
      return AddCopy(operation, line);
    case OperationKind::kMemset:
      return AddMemset(operation, line);
    case OperationKind::kSync:
      return AddSync(operation, line);
    case OperationKind::kGraph:
    case OperationKind::kHostFunction:
      return;
  }
}

}  // namespace

void OpenTruth() {
  static std::once_flag& once = *new std::once_flag;
  std::call_once(once, [] {
    const std::string& path = GetKnobs().truth_path;
    if (path.empty()) return;
    truth_fd = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    if (truth_fd < 0) RefuseKnob("SIMCUDA_TRUTH", path, "a file that can be written");
  });
}

bool TruthOpen() { return truth_fd >= 0; }

void WriteTruth(const char* line, size_t size) {
  if (truth_fd < 0) return;
  if (write(truth_fd, line, size) != static_cast<ssize_t>(size)) {
    fprintf(stderr, "simcuda: a line of the truth file was lost\n");
  }
}

void WriteCall(const ApiCall& call) {
  Line line("api");
  line.Add("domain", call.function->domain == kDriver ? "driver" : "runtime");
  line.Add("name", call.function->name);
  line.Add("cbid", uint64_t{call.function->cbid});
  line.Add("has_cbid", HasCbid(*call.function));
  line.Add("correlation", uint64_t{call.correlation});
  AddThread(static_cast<uint64_t>(syscall(SYS_gettid)), &line);
  line.Add("depth", uint64_t{call.depth});
  line.Add("enter_ns", call.enter_ns);
  line.Add("start_ns", call.start_ns);
  line.Add("end_ns", call.end_ns);
  line.Add("exit_ns", call.exit_ns);
  line.Add("enter_switched", call.enter_switched);
  line.Add("exit_switched", call.exit_switched);
  line.AddStatus(call.status);
  line.Write();
}

void WriteOperation(const DeviceOperation& operation) {
  Line line("operation");
  line.Add("kind", KindName(operation.kind));
  line.Add("correlation", uint64_t{operation.correlation});
  AddThread(operation.thread, &line);
  line.Add("device", uint64_t{operation.device});
  line.Add("gpu", static_cast<uint64_t>(VisibleDevices()[operation.device]));
  line.Add("context", uint64_t{operation.context});
  line.AddId("stream", operation.stream);
  line.Add("start_ns", operation.start_ns);
  line.Add("end_ns", operation.end_ns);
  line.Add("graph", uint64_t{operation.graph});
  line.Add("node", operation.node);
  AddKindsOwn(operation, &line);
  line.Write();
}

}  // namespace simcuda
