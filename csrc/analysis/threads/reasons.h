// What a thread is in, finer than its layer: why the loop does not go on, or the GPU is idle
// (docs/reference/semantics.md#idle-time).
#ifndef RLSCOPE_ANALYSIS_THREADS_REASONS_H_
#define RLSCOPE_ANALYSIS_THREADS_REASONS_H_

#include <stdint.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/process/source.h"
#include "analysis/spill/spill_vector.h"
#include "trace/read/chunk_parser.h"

namespace rlscope::analysis {

// In the order of ReasonWords().
enum class Reason : uint8_t {
  kNone,
  kProcess,
  kThread,
  kSleep,
  kDisk,
  kPython,
  kCollection,
  kSimulator,
  kFramework,
  kLaunch,
  kSynchronisation,
  kCopy,
  kAllocation,
  kCompilation,
  kEnd,  // one after the last
};
std::vector<std::string> ReasonWords();

// The reason of a layer, by its rank, where nothing more is known.
Reason ReasonOfLayer(uint32_t rank);
// "pipe 4711|posix.read": by what stands before the first blank or bar.
Reason ReasonOfWait(std::string_view text);

// How a copy went, by its correlation id. If several have one id, the one that began first counts;
// then the lowest device, context and stream.
class CopyTable {
 public:
  explicit CopyTable(const std::vector<GpuInput>& inputs);

  // trace::GpuDetail::how; 0: there is none of this id.
  uint8_t Find(int64_t correlation) const;

 private:
  struct Copy {
    int64_t correlation;
    int64_t start_ns;
    uint8_t how;
  };
  static bool IsBefore(const Copy& one, const Copy& other) {
    return std::tie(one.correlation, one.start_ns) < std::tie(other.correlation, other.start_ns);
  }
  SpillVector<Copy> copies_;
};

// The CUDA calls of one thread, one after the other.
class CudaReasons {
 public:
  // The thread calls a function of this class; `how` of a copy.
  enum class Class : uint8_t {
    kOther,
    kSubmits,
    kWaits,
    kCopies,
    kCopiesLater,
    kAllocates,
    kLoads
  };
  Reason Next(Class of, uint8_t how);

 private:
  bool has_copied_ = false;  // to the device, and has submitted nothing since
};

// The reasons of the functions and CUDA calls of a process.
class Reasons {
 public:
  explicit Reasons(const ProcessInput& input);

  // kNone: that of its layer.
  Reason OfFunction(uint32_t function) const {
    return function < of_function_.size() ? of_function_[function] : Reason::kNone;
  }
  Reason OfCudaCall(uint32_t name, int64_t correlation, CudaReasons* thread) const;

 private:
  std::vector<Reason> of_function_;
  std::vector<CudaReasons::Class> class_of_name_;
  CopyTable copies_;
};

// The class of a CUDA function, by its name as CUPTI has it.
CudaReasons::Class CudaClassOf(std::string_view name);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_REASONS_H_
