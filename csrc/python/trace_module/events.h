// Relations of one row per interval, as streams of rows (rlscope/_trace.pyi).
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_EVENTS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_EVENTS_H_

#include <stdint.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "python/trace_module/row_stream.h"
#include "trace/directory/directory.h"

namespace rlscope::python {

// An operation of the process, as a sweep found it.
struct KnownOperation {
  std::string path;
  bool automatic;
  int64_t id;  // in the run
};

struct RowOptions {
  size_t process;
  int64_t first_thread;  // id in the run of the process's first thread
  std::vector<KnownOperation> operations;
  uint32_t most_paths;
  std::shared_ptr<std::atomic<int64_t>> reached_ns;  // shows how far a reader has come
};

// What `event.kind` can be.
std::vector<std::string> EventKinds();

// The relation `event`: operations, calls and callbacks, CUDA calls, GPU work.
RowStream StreamEvents(std::shared_ptr<trace::Directory> directory, RowOptions options);

// The relation `operation_instance`.
RowStream StreamInstances(std::shared_ptr<trace::Directory> directory, RowOptions options);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_EVENTS_H_
