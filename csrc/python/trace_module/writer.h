// _trace.Writer: one .rls file, for importers and tests.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_WRITER_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_WRITER_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <stdint.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "importers/trace_file.h"

namespace rlscope::python {

template <class T>
using Array =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using OptionalArray = std::optional<Array<T>>;

struct WriterOptions {
  uint32_t os_pid;
  int64_t began_ns;
  uint64_t start_time;
  std::string host;
  std::string boot_id;
  uint32_t main_thread;
  std::optional<std::vector<std::pair<uint64_t, int64_t>>> clock_pairs;
  // When recording stopped or (true) started, whichever thread reports it; in order.
  std::vector<std::pair<uint64_t, bool>> windows;
};

// Every function throws std::system_error when a write fails, std::invalid_argument for arrays of
// different lengths, std::logic_error once it is closed.
class Writer {
 public:
  Writer(const std::string& path, const WriterOptions& options);

  uint32_t Name(uint32_t kind, const std::string& text, uint32_t layer);
  void Thread(uint32_t thread, uint32_t os_tid, const std::string& name, bool is_python);
  void Metadata(const std::vector<std::pair<std::string, std::string>>& entries,
                const std::string& process_name, const std::string& program,
                const std::string& python);
  void Items(uint32_t thread, const Array<int64_t>& ticks, const Array<uint32_t>& kinds,
             const Array<uint32_t>& ids, const OptionalArray<int64_t>& durations,
             const OptionalArray<uint64_t>& values);
  // Times in ns, each with the threads that were awake, and with the node of each thread whose
  // stack is known.
  using StateSample = std::tuple<int64_t, std::vector<uint32_t>, std::map<uint32_t, uint32_t>>;
  void States(const std::vector<StateSample>& samples);
  // Functions as (file, name, line), nodes as (parent, function, line).
  using StackFunctions = std::vector<std::tuple<std::string, std::string, uint32_t>>;
  using StackNodes = std::vector<std::tuple<uint32_t, uint32_t, uint32_t>>;
  void Stacks(const StackFunctions& functions, const StackNodes& nodes);
  void CallSites(const StackFunctions& functions, const StackNodes& nodes);
  void OpenWait(uint32_t thread, int64_t ticks, uint32_t id);
  void CudaCalls(uint32_t thread, const Array<int64_t>& ticks, const Array<int64_t>& durations,
                 const Array<uint32_t>& names, const Array<int64_t>& correlations,
                 const OptionalArray<uint32_t>& statuses, const OptionalArray<uint32_t>& sites);
  void Gpu(uint32_t device, uint32_t context, uint32_t stream, const Array<int64_t>& start_ns,
           const Array<int64_t>& duration_ns, const Array<uint32_t>& kinds,
           const Array<uint32_t>& names, const Array<int64_t>& correlations,
           const OptionalArray<int64_t>& sizes, const OptionalArray<uint32_t>& graphs,
           const OptionalArray<uint32_t>& hows);
  void CloseForNext() { file_.CloseForNext(); }
  void End(int64_t end_ns, bool exited, int64_t python_begin_ns, int64_t python_end_ns,
           const std::vector<std::pair<std::string, uint64_t>>& losses);
  void Close() { file_.Close(); }

 private:
  importers::TraceFile file_;
};

void AddWriter(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_WRITER_H_
