// The facts of each GpuKind, one row for each number: its role, its relation and columns. The
// analysis, the conversion to relations and, as _trace.GPU_KINDS, Python read this table, and name
// no kind themselves.
#ifndef RLSCOPE_ANALYSIS_GPU_GPU_KINDS_H_
#define RLSCOPE_ANALYSIS_GPU_GPU_KINDS_H_

#include <stddef.h>
#include <stdint.h>

#include <iterator>

#include "trace/layout/cuda_interval.h"

namespace rlscope::analysis {

// How intervals of a kind count (docs/reference/semantics.md#gpu).
enum class GpuRole : uint8_t {
  kOwn,   // the profiling interface's: it has no launch
  kWork,  // keeps its stream busy, and has a relation of its kind's name
  kWait,  // synchronisation: the call is what counts
};

// What tells rows of a kind's relation apart, beside the stream and the operation.
enum class GpuKey : uint8_t { kName, kGraph, kHow };

enum class GpuValue : uint8_t {
  kNone,
  // Texts, of the key:
  kName,
  kFunction,       // the name, demangled
  kCopyDirection,  // the lower half of `how`,
  kCopyMemory,     // and the upper one
  kMemory,         // all of it
  // Numbers:
  kGraph,
  kBytes,
  kDuration,
  kShortest,
  kLongest,
  kLaunchBound,
};

constexpr bool IsText(GpuValue value) {
  return value >= GpuValue::kName && value <= GpuValue::kMemory;
}

struct GpuColumn {
  GpuValue value = GpuValue::kNone;
  const char* name = nullptr;
  const char* comment = nullptr;
};

struct GpuKindRow {
  const char* name;  // in `event`; of work that of the relation, too
  GpuRole role;
  // Only for work:
  const char* comment = nullptr;  // on the relation
  const char* absent = nullptr;   // said where it is empty
  GpuKey key = GpuKey::kHow;
  GpuColumn keys[2] = {};  // before the operation
  GpuColumn sums[4] = {};  // after `count`
};

constexpr GpuKindRow kGpuKinds[] = {
    {"unknown", GpuRole::kOwn},  // to this version
    {"kernel",
     GpuRole::kWork,
     "Kernels that ran on a GPU.",
     "no kernel was recorded",
     GpuKey::kName,
     {{GpuValue::kName, "name", "name of the kernel in the compiled code (mangled)"},
      {GpuValue::kFunction, "function", "name of the kernel in the source (demangled)"}},
     {{GpuValue::kDuration, "duration_ns", "sum over launches, which may overlap"},
      {GpuValue::kShortest, "min_ns", "the shortest"},
      {GpuValue::kLongest, "max_ns", "the longest"},
      {GpuValue::kLaunchBound, "launch_bound",
       "launches that ended while their stream was idle: the GPU waited for the CPU"}}},
    {"memcpy",
     GpuRole::kWork,
     "Copies that a GPU made.",
     "no copy was recorded",
     GpuKey::kHow,
     {{GpuValue::kCopyDirection, "direction",
       "from where to where: host_to_device, device_to_host, ..."},
      {GpuValue::kCopyMemory, "memory",
       "kind of the host's memory: pageable, pinned or managed; without a host, the kind of the "
       "source's memory"}},
     {{GpuValue::kBytes, "bytes", "bytes copied"},
      {GpuValue::kDuration, "duration_ns", "sum over copies"}}},
    {"memset",
     GpuRole::kWork,
     "Memory that a GPU set.",
     "no memset was recorded",
     GpuKey::kHow,
     {{GpuValue::kMemory, "memory", "kind of memory: device, pinned, managed, ..."}},
     {{GpuValue::kBytes, "bytes", "bytes set"},
      {GpuValue::kDuration, "duration_ns", "sum over memsets"}}},
    {"graph",
     GpuRole::kWork,
     "Launches of CUDA graphs, each from its start to its end (rls-prof "
     "--cuda-graph-trace=graph).",
     "no launch of a CUDA graph was recorded as a whole",
     GpuKey::kGraph,
     {{GpuValue::kGraph, "graph", "number of the executable graph"}},
     {{GpuValue::kDuration, "duration_ns", "sum over launches, which may overlap"},
      {GpuValue::kShortest, "min_ns", "the shortest"},
      {GpuValue::kLongest, "max_ns", "the longest"},
      {GpuValue::kLaunchBound, "launch_bound",
       "launches that ended while their stream was idle: the GPU waited for the CPU"}}},
    {"sync", GpuRole::kWait},
    {"overhead", GpuRole::kOwn},
};
constexpr size_t kGpuKindCount = std::size(kGpuKinds);
static_assert(kGpuKindCount == static_cast<size_t>(trace::GpuKind::kEnd), "a row for each kind");

// A file may have any number there.
constexpr size_t GpuKindOf(uint32_t kind) { return kind < kGpuKindCount ? kind : 0; }
constexpr const GpuKindRow& RowOfGpuKind(uint32_t kind) { return kGpuKinds[GpuKindOf(kind)]; }

// Kernels, copies, memsets and graphs; not synchronisation (docs/reference/semantics.md#gpu).
constexpr uint32_t WorkKinds() {
  uint32_t kinds = 0;
  for (size_t i = 0; i < kGpuKindCount; ++i) {
    kinds |= uint32_t{kGpuKinds[i].role == GpuRole::kWork} << i;
  }
  return kinds;
}
inline bool IsGpuWork(uint32_t kind) {
  static_assert(kGpuKindCount <= 32);
  constexpr uint32_t kWork = WorkKinds();
  return kind < kGpuKindCount && (kWork >> kind & 1) != 0;
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_GPU_GPU_KINDS_H_
