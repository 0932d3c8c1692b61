#include "analysis/threads/reasons.h"

#include <algorithm>
#include <memory>

#include "analysis/keys/layer_ranks.h"
#include "analysis/threads/collections.h"
#include "analysis/threads/cuda_call_kinds.h"
#include "trace/format/name_kind.h"
#include "trace/layout/cuda_interval.h"
#include "trace/layout/layer.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {
namespace {

using Class = CudaReasons::Class;

struct WaitKind {
  std::string_view kind;
  Reason reason;
};
constexpr WaitKind kWaitKinds[] = {
    {"lock", Reason::kThread}, {"queue", Reason::kThread}, {"thread", Reason::kThread},
    {"gil", Reason::kThread},  {"sleep", Reason::kSleep},  {"disk", Reason::kDisk},
    {"device", Reason::kDisk},
};

// What names begin with after `cuda` or `cu`: the first that fits counts.
struct CudaPrefix {
  std::string_view prefix;
  Class of;
};
constexpr CudaPrefix kCudaPrefixes[] = {
    {"StreamSynchronize", Class::kWaits},
    {"EventSynchronize", Class::kWaits},
    {"CtxSynchronize", Class::kWaits},
    {"DeviceSynchronize", Class::kWaits},
    {"ThreadSynchronize", Class::kWaits},
    {"ExecutionCtxSynchronize", Class::kWaits},
    {"Malloc", Class::kAllocates},
    {"Free", Class::kAllocates},
    {"HostAlloc", Class::kAllocates},
    {"HostRegister", Class::kAllocates},
    {"HostUnregister", Class::kAllocates},
    {"MemAlloc", Class::kAllocates},
    {"MemFree", Class::kAllocates},
    {"MemHostAlloc", Class::kAllocates},
    {"MemHostRegister", Class::kAllocates},
    {"MemHostUnregister", Class::kAllocates},
    {"MemCreate", Class::kAllocates},
    {"MemRelease", Class::kAllocates},
    {"MemMap", Class::kAllocates},
    {"MemUnmap", Class::kAllocates},
    {"MemSetAccess", Class::kAllocates},
    {"MemAddress", Class::kAllocates},
    {"MemPool", Class::kAllocates},
    {"ModuleLoad", Class::kLoads},
    {"LibraryLoad", Class::kLoads},
    {"Link", Class::kLoads},
    {"FuncLoad", Class::kLoads},
    {"KernelGetFunction", Class::kLoads},
    {"ModuleGetFunction", Class::kLoads},
    {"LibraryGetKernel", Class::kLoads},
};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Without "__", "cuda" and "cu".
std::string_view Stem(std::string_view name) {
  if (StartsWith(name, "__")) name.remove_prefix(2);
  if (StartsWith(name, "cuda")) return name.substr(4);
  return StartsWith(name, "cu") ? name.substr(2) : std::string_view();
}

uint8_t Direction(uint8_t how) { return how & 0xf; }
bool IsFromPageable(uint8_t how) { return how >> 4 == uint8_t(trace::CopyMemory::kPageable); }

template <class Value>
void SetAt(std::vector<Value>* values, uint32_t id, Value value) {
  if (id >= values->size()) values->resize(id + 1);
  (*values)[id] = value;
}

}  // namespace

std::vector<std::string> ReasonWords() {
  return {
      "none",      "process",   "thread", "sleep",           "disk", "python",     "collection",
      "simulator", "framework", "launch", "synchronisation", "copy", "allocation", "compilation"};
}

Reason ReasonOfLayer(uint32_t rank) {
  constexpr Reason kOfRank[kLayers] = {Reason::kNone,      Reason::kProcess,   Reason::kPython,
                                       Reason::kSimulator, Reason::kFramework, Reason::kLaunch};
  return rank < kLayers ? kOfRank[rank] : Reason::kNone;
}

Reason ReasonOfWait(std::string_view text) {
  const std::string_view kind = text.substr(0, text.find_first_of(" |"));
  for (const WaitKind& each : kWaitKinds) {
    if (kind == each.kind) return each.reason;
  }
  return Reason::kProcess;
}

CudaReasons::Class CudaClassOf(std::string_view name) {
  const std::string_view stem = Stem(name);
  if (StartsWith(stem, "Memcpy")) {
    return stem.find("Async") == stem.npos ? Class::kCopies : Class::kCopiesLater;
  }
  for (const CudaPrefix& each : kCudaPrefixes) {
    if (StartsWith(stem, each.prefix)) return each.of;
  }
  return IsCudaSubmission(name) ? Class::kSubmits : Class::kOther;
}

CopyTable::CopyTable(const std::vector<GpuInput>& inputs) {
  constexpr auto kMemcpy = static_cast<uint32_t>(trace::GpuKind::kMemcpy);
  for (const GpuInput& input : inputs) {
    const std::unique_ptr<GpuSource> source = input.open(trace::Detail::kAll);
    while (const trace::GpuBatch* batch = source->Next()) {
      for (uint32_t i = 0; i < batch->count; ++i) {
        if (batch->kind[i] != kMemcpy || batch->correlation[i] == 0) continue;
        copies_.push_back({batch->correlation[i], batch->detail[i].how});
      }
    }
  }
  std::stable_sort(copies_.begin(), copies_.end(), IsBefore);
}

uint8_t CopyTable::Find(int64_t correlation) const {
  const Copy wanted = {correlation, 0};
  const Copy* const found = std::lower_bound(copies_.begin(), copies_.end(), wanted, IsBefore);
  return found != copies_.end() && found->correlation == correlation ? found->how : 0;
}

Reason CudaReasons::Next(Class of, uint8_t how) {
  const bool has_copied = has_copied_;
  const bool is_copy = of == Class::kCopies || of == Class::kCopiesLater;
  const bool is_to_device = Direction(how) == uint8_t(trace::CopyDirection::kHostToDevice);
  const bool is_to_host = Direction(how) == uint8_t(trace::CopyDirection::kDeviceToHost);
  has_copied_ = is_copy && is_to_device && IsFromPageable(how);
  if (has_copied_) return Reason::kCopy;
  switch (of) {
    case Class::kWaits:
      return has_copied ? Reason::kCopy : Reason::kSynchronisation;
    case Class::kCopies:
      return Reason::kSynchronisation;
    case Class::kCopiesLater:
      return is_to_host && IsFromPageable(how) ? Reason::kSynchronisation : Reason::kLaunch;
    case Class::kSubmits:
      return Reason::kLaunch;
    default:
      has_copied_ = has_copied;
  }
  if (of == Class::kAllocates) return Reason::kAllocation;
  return of == Class::kLoads ? Reason::kCompilation : Reason::kLaunch;
}

Reasons::Reasons(const ProcessInput& input) : copies_(input.gpu) {
  for (const trace::Name& name : input.names) {
    if (name.id > trace::kMaxId) continue;
    if (name.kind == static_cast<uint32_t>(trace::NameKind::kCudaCall)) {
      SetAt(&class_of_name_, name.id, CudaClassOf(name.text));
    } else if (name.kind == static_cast<uint32_t>(trace::NameKind::kFunction)) {
      Reason reason = Reason::kNone;
      if (RankOfLayer(name.layer) == kWaitRank) reason = ReasonOfWait(name.text);
      if (IsCollection(name)) reason = Reason::kCollection;
      SetAt(&of_function_, name.id, reason);
    }
  }
}

Reason Reasons::OfCudaCall(uint32_t name, int64_t correlation, CudaReasons* thread) const {
  const Class of = name < class_of_name_.size() ? class_of_name_[name] : Class::kOther;
  const bool is_copy = of == Class::kCopies || of == Class::kCopiesLater;
  return thread->Next(of, is_copy ? copies_.Find(correlation) : 0);
}

}  // namespace rlscope::analysis
