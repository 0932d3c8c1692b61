// _trace.Directory: a trace directory, opened once, swept process by process.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_DIRECTORY_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_DIRECTORY_H_

#include <nanobind/nanobind.h>
#include <stddef.h>
#include <stdint.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/process/source.h"
#include "analysis/sweep/sweep.h"
#include "analysis/sweep/trace_source.h"
#include "python/trace_module/events.h"
#include "trace/directory/directory.h"

namespace rlscope::python {

class Directory {
 public:
  // Throws TraceError.
  Directory(const std::string& path, const std::string& rings);

  nanobind::list Processes() const;
  nanobind::list Problems() const;
  nanobind::object Cut() const;
  nanobind::list Nested() const;
  nanobind::dict Threads(size_t process) const;
  nanobind::dict Names(size_t process) const;
  nanobind::list Losses(size_t process) const;
  nanobind::dict Iterations(size_t process) const;
  nanobind::dict Items(size_t process, uint32_t thread) const;
  nanobind::dict CudaCalls(size_t process, uint32_t thread) const;
  nanobind::dict GpuIntervals(size_t process) const;
  nanobind::dict Sweep(size_t process, const analysis::SweepOptions& options,
                       uint32_t most_paths) const;
  // As (path, source, id in the run) each.
  using Operations = std::vector<std::tuple<std::string, std::string, int64_t>>;
  RowStream EventRows(size_t process, int64_t first_thread, const Operations& operations,
                      uint32_t most_paths) const;
  RowStream InstanceRows(size_t process, int64_t first_thread, const Operations& operations,
                         uint32_t most_paths) const;
  // When the training loop began and ended, as Sweep() says; nothing: there is none.
  using LoopTimes = std::optional<std::pair<int64_t, int64_t>>;
  nanobind::dict CudaRelations(size_t process, const LoopTimes& loop, uint32_t most_paths) const;
  using SeenTimes = std::optional<std::vector<std::tuple<int64_t, int64_t, bool>>>;
  nanobind::dict Idle(size_t process, const LoopTimes& loop, const SeenTimes& seen,
                      uint32_t most_paths) const;
  // Processes, each with the number that the device has in it.
  using DeviceUses = std::vector<std::pair<size_t, uint32_t>>;
  nanobind::dict DeviceTimes(const DeviceUses& uses, const analysis::Span& grid,
                             uint32_t buckets) const;
  int64_t DeviceBusyNs(const DeviceUses& uses,
                       const std::vector<std::pair<int64_t, int64_t>>& spans) const;
  int64_t ReachedNs(size_t process) const;

 private:
  class Uses;

  // Throws IndexError.
  const trace::ProcessImage& Image(size_t process) const;
  nanobind::dict ProcessDict(size_t process) const;
  int64_t LostTime(size_t process, const std::string& kind) const;
  RowOptions MakeRowOptions(size_t process, int64_t first_thread, const Operations& operations,
                            uint32_t most_paths) const;
  analysis::ProcessInput Input(size_t process, uint32_t most_paths) const;

  std::shared_ptr<trace::Directory> directory_;  // with the streams of rows
  std::vector<analysis::TimeRange> ranges_;      // of the processes, windows considered
  std::vector<std::shared_ptr<std::atomic<int64_t>>> reached_ns_;  // by the latest pass of each
};

void AddDirectory(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_DIRECTORY_H_
