// Every operation instance of a process, with its iteration.
#ifndef RLSCOPE_ANALYSIS_EVENTS_INSTANCES_H_
#define RLSCOPE_ANALYSIS_EVENTS_INSTANCES_H_

#include <stdint.h>

#include "analysis/keys/operation_paths.h"
#include "analysis/process/source.h"
#include "analysis/threads/operation_stack.h"

namespace rlscope::analysis {

// Takes instances one by one; those of one thread come in the order in which they close.
class InstanceRowSink {
 public:
  virtual ~InstanceRowSink() = default;
  // `iteration`: -1 in none.
  virtual void Add(const OperationInstance& instance, int64_t iteration) = 0;
};

// Reads the threads exactly as a sweep with its default options does, so that the same paths go to
// (other) where there are too many. Throws what the sink throws, and std::system_error like Sweep.
void FindInstances(const ProcessInput& input, OperationPaths* paths, InstanceRowSink* sink);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_EVENTS_INSTANCES_H_
