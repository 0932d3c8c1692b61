#include "core/kernels.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace simcuda {
namespace {

struct Kernels {
  std::mutex lock;
  std::unordered_map<std::string, Kernel*> by_name;
  std::unordered_set<const void*> handles;
};

Kernels& All() {
  static Kernels& kernels = *new Kernels;
  return kernels;
}

// "void ns::add<float>(float*, int)" and its mangled form are both "add".
std::string PlainName(const char* mangled) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : mangled;
  free(demangled);
  if (status != 0) return name;
  name = name.substr(0, name.find_first_of("(<"));
  return name.substr(name.find_last_of(": ") + 1);
}

// Resources differ from kernel to kernel, so that a reader of records that looks at the wrong place
// is found out.
uint32_t Fingerprint(const char* name) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 16777619u;
  return hash;
}

Kernel* Create(const char* name) {
  auto* kernel = new Kernel{};
  uint32_t fingerprint = Fingerprint(name);
  kernel->name = name;
  kernel->plain = PlainName(name);
  kernel->registers = 16 + fingerprint % 100;
  kernel->static_shared_bytes = 16 * (fingerprint / 100 % 256);
  kernel->duration_is_argument = kernel->plain.compare(0, 8, "sim_spin") == 0;
  return kernel;
}

constexpr uintptr_t kExtraEnd = 0;
constexpr uintptr_t kExtraBuffer = 1;  // CU_LAUNCH_PARAM_BUFFER_POINTER

const void* FirstArgument(void* const* arguments, void* const* extra) {
  if (arguments != nullptr) return arguments[0];
  for (; extra != nullptr && reinterpret_cast<uintptr_t>(extra[0]) != kExtraEnd; extra += 2) {
    if (reinterpret_cast<uintptr_t>(extra[0]) == kExtraBuffer) return extra[1];
  }
  return nullptr;
}

}  // namespace

Kernel* FindKernel(const char* name) {
  Kernels& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  Kernel*& kernel = all.by_name[name];
  if (kernel == nullptr) {
    kernel = Create(name);
    all.handles.insert(kernel);
  }
  return kernel;
}

bool IsKernel(const void* handle) {
  Kernels& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  return all.handles.count(handle) != 0;
}

Work LaunchWork(const Kernel& kernel, const Shape& shape, void* const* arguments,
                void* const* extra) {
  Work work;
  work.type = NodeType::kKernel;
  work.kernel = &kernel;
  DeviceOperation& operation = work.operation;
  operation.kind = OperationKind::kKernel;
  operation.name = kernel.name.c_str();
  memcpy(operation.grid, shape.grid, sizeof(shape.grid));
  memcpy(operation.block, shape.block, sizeof(shape.block));
  operation.dynamic_shared_bytes = shape.shared_bytes;
  operation.static_shared_bytes = kernel.static_shared_bytes;
  operation.registers = kernel.registers;
  const void* first = kernel.duration_is_argument ? FirstArgument(arguments, extra) : nullptr;
  if (first != nullptr) memcpy(&work.duration_ns, first, sizeof(work.duration_ns));
  return work;
}

}  // namespace simcuda
