#include "python/trace_module/import.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "importers/chrome.h"
#include "importers/imported_rows.h"
#include "importers/kineto.h"
#include "importers/spill_file.h"
#include "importers/trace_file.h"
#include "importers/xprof.h"
#include "python/trace_module/error.h"
#include "python/trace_module/writer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

using importers::ChromeScan;
using importers::ImportedRows;
using importers::Interval;
using importers::KinetoScan;
using importers::RowOrder;
using importers::SpillFile;
using importers::XprofScan;

// read(size) -> bytes, which may raise: a Ctrl-C ends the scan there.
class PythonSource : public importers::ByteSource {
 public:
  explicit PythonSource(nb::callable read) : read_(std::move(read)) {}

  size_t Read(char* into, size_t size) override {
    const nb::gil_scoped_acquire acquire;
    const nb::bytes bytes = nb::cast<nb::bytes>(read_(size));
    if (bytes.size() > size) throw std::invalid_argument("read() returned more than it was asked");
    memcpy(into, bytes.c_str(), bytes.size());
    return bytes.size();
  }

 private:
  nb::callable read_;
};

std::string ToUtf8(std::string text) {
  base::ReplaceInvalidUtf8(reinterpret_cast<uint8_t*>(text.data()), text.size());
  return text;
}

nb::dict ToDict(const importers::RowCounts& counts) {
  nb::dict found;
  for (const auto& [what, rows] : counts.by_kind()) found[ToUtf8(what).c_str()] = rows.count;
  return found;
}

template <class AnyScan>
void Scan(AnyScan* scan, nb::callable read) {
  PythonSource source(std::move(read));
  try {
    const nb::gil_scoped_release release;
    scan->Read(&source);
  } catch (const importers::FormatError& error) {
    throw TraceError(error.what());
  }
}

nb::dict KinetoFacts(const KinetoScan& scan) {
  const importers::KinetoFacts& facts = scan.facts();
  nb::dict found;
  found["base_ns"] = facts.base_ns;
  found["rank"] = facts.rank;
  found["world_size"] = facts.world_size;
  found["backend"] = ToUtf8(facts.backend);
  found["host_name"] = ToUtf8(facts.host_name);
  std::vector<std::string> devices;
  for (const std::string& device : facts.devices) devices.push_back(ToUtf8(device));
  found["devices"] = devices;
  return found;
}

nb::dict RowFacts(const ImportedRows& rows) {
  nb::dict found;
  found["first_ns"] = rows.first_ns();
  found["last_ns"] = rows.last_ns();
  found["empty"] = rows.empty();
  found["os_pid"] = rows.os_pid;
  found["name"] = ToUtf8(rows.name);
  found["has_gpu_work"] = rows.has_gpu_work();
  found["devices"] = rows.Devices();
  found["steps"] = rows.Steps();
  found["taken"] = ToDict(rows.taken);
  found["not_taken"] = ToDict(rows.not_taken);
  return found;
}

// ---- rows of importers that are written in Python -----------------------------------------------

template <class First, class... Rest>
void CheckSameLength(const First& first, const Rest&... rest) {
  if (((rest.shape(0) != first.shape(0)) || ...)) {
    throw std::invalid_argument("the arrays differ in length");
  }
}

void CheckBelow(const Array<uint32_t>& numbers, size_t end, const char* what) {
  for (size_t i = 0; i < numbers.shape(0); ++i) {
    if (numbers.data()[i] >= end) throw std::invalid_argument(what);
  }
}

std::optional<uint32_t> FindOrAddThread(ImportedRows* rows, const std::string& key, uint32_t os_tid,
                                        const std::string& name, bool is_python) {
  const std::optional<uint32_t> thread = rows->FindThread(key);
  if (thread) {
    importers::ImportedThread* const found = rows->thread(*thread);
    found->os_tid = os_tid;
    found->name = name;
    found->is_python = is_python;
  }
  return thread;
}

// The intervals of rows of threads. Calls add(i, interval) for those without a problem; returns how
// many these are.
template <class Add>
size_t AddIntervals(const Array<int64_t>& start_ns, const Array<int64_t>& end_ns, Add add) {
  const nb::gil_scoped_release release;
  size_t added = 0;
  for (size_t i = 0; i < start_ns.shape(0); ++i) {
    const Interval interval = {start_ns.data()[i], end_ns.data()[i]};
    if (importers::ProblemOf(interval) != nullptr) continue;
    add(i, interval);
    ++added;
  }
  return added;
}

size_t AddOperationRows(ImportedRows* rows, const Array<uint32_t>& threads,
                        const Array<uint32_t>& names, const Array<int64_t>& start_ns,
                        const Array<int64_t>& end_ns) {
  CheckSameLength(threads, names, start_ns, end_ns);
  CheckBelow(threads, rows->threads(), "no such thread");
  return AddIntervals(start_ns, end_ns, [&](size_t i, const Interval& interval) {
    rows->AddOperation(threads.data()[i], names.data()[i], interval);
  });
}

size_t AddCallRows(ImportedRows* rows, const Array<uint32_t>& threads, const Array<uint32_t>& names,
                   const Array<int64_t>& start_ns, const Array<int64_t>& end_ns) {
  CheckSameLength(threads, names, start_ns, end_ns);
  CheckBelow(threads, rows->threads(), "no such thread");
  return AddIntervals(start_ns, end_ns, [&](size_t i, const Interval& interval) {
    rows->AddCall(threads.data()[i], names.data()[i], interval);
  });
}

size_t AddPythonRows(ImportedRows* rows, const Array<uint32_t>& threads,
                     const Array<int64_t>& start_ns, const Array<int64_t>& end_ns) {
  CheckSameLength(threads, start_ns, end_ns);
  CheckBelow(threads, rows->threads(), "no such thread");
  return AddIntervals(start_ns, end_ns, [&](size_t i, const Interval& interval) {
    rows->AddPython(threads.data()[i], interval);
  });
}

size_t AddCudaCallRows(ImportedRows* rows, const Array<uint32_t>& threads,
                       const Array<uint32_t>& names, const Array<int64_t>& start_ns,
                       const Array<int64_t>& end_ns, const Array<int64_t>& correlations) {
  CheckSameLength(threads, names, start_ns, end_ns, correlations);
  CheckBelow(threads, rows->threads(), "no such thread");
  return AddIntervals(start_ns, end_ns, [&](size_t i, const Interval& interval) {
    rows->AddCudaCall(threads.data()[i], names.data()[i], interval, correlations.data()[i]);
  });
}

size_t AddGpuRows(ImportedRows* rows, uint32_t kind, const Array<uint32_t>& streams,
                  const Array<uint32_t>& names, const Array<int64_t>& start_ns,
                  const Array<int64_t>& end_ns, const Array<int64_t>& correlations,
                  const Array<int64_t>& sizes, const Array<uint32_t>& hows,
                  const Array<uint32_t>& graphs) {
  CheckSameLength(streams, names, start_ns, end_ns, correlations, sizes, hows, graphs);
  CheckBelow(streams, rows->streams(), "no such stream");
  return AddIntervals(start_ns, end_ns, [&](size_t i, const Interval& interval) {
    const uint64_t bytes = static_cast<uint64_t>(std::max<int64_t>(sizes.data()[i], 0));
    rows->AddGpu(streams.data()[i],
                 {static_cast<trace::GpuKind>(kind), names.data()[i], correlations.data()[i], bytes,
                  hows.data()[i], graphs.data()[i]},
                 interval);
  });
}

// ---- writing ------------------------------------------------------------------------------------

struct Target {
  std::string path;
  uint64_t start_time;
  int64_t shift_ns;
  std::string host;
  std::string program;
  std::vector<std::pair<std::string, std::string>> metadata;
};

nb::dict Write(const ImportedRows& rows, const Target& target) {
  nb::gil_scoped_release release;
  const int64_t began_ns = rows.first_ns() + target.shift_ns;
  trace::ProcessFields process{};
  process.tool_version = "";
  process.host = target.host.c_str();
  process.boot_id = "";
  process.os_pid = rows.os_pid;
  process.start_time = target.start_time;
  process.began_ns = began_ns;
  process.clock = base::ClockKind::kMonotonic;
  process.tick_hz = 1'000'000'000;
  process.main_thread = rows.os_pid;
  importers::TraceFile file(target.path, process);
  std::vector<trace::MetadataFields> entries;
  for (const auto& [key, value] : target.metadata) {
    entries.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
  }
  file.AddMetadata({{}, {target.program.data(), target.program.size()}, {}}, entries);
  const ImportedRows::Losses losses = rows.WriteTo(&file, target.shift_ns);
  std::vector<trace::LossFields> fields;
  if (losses.names > 0) fields.push_back({"names", losses.names});
  if (losses.too_deep > 0) fields.push_back({"too_deep", losses.too_deep});
  // When the process ended is not known: it ends with its last record.
  const trace::EndFields end = {0, false, rows.has_python() ? began_ns : 0, 0, 0};
  file.End(end, fields);
  file.Close();
  const nb::gil_scoped_acquire acquire;
  nb::dict counts;
  for (const trace::LossFields& loss : fields) counts[loss.kind] = loss.count;
  if (file.clamped() > 0) counts["clamped"] = file.clamped();
  return counts;
}

}  // namespace

void AddImporters(nb::module_& module) {
  nb::class_<SpillFile>(module, "SpillFile").def(nb::init<>());
  nb::class_<ImportedRows>(module, "ImportedRows")
      .def(
          "__init__",
          [](ImportedRows* rows, SpillFile* spill, size_t part) {
            ImportedRows::Memory memory;
            memory.sort_bytes /= std::max<size_t>(part, 1);
            memory.name_bytes /= std::max<size_t>(part, 1);
            new (rows) ImportedRows(spill, RowOrder::kLongestFirst, memory);
          },
          "spill"_a, "part"_a = 1, nb::keep_alive<1, 2>())
      .def_prop_ro("facts", &RowFacts)
      .def_rw("os_pid", &ImportedRows::os_pid)
      .def_rw("name", &ImportedRows::name)
      .def("thread", &FindOrAddThread, "key"_a, nb::kw_only(), "os_tid"_a = 0, "name"_a = "",
           "is_python"_a = false)
      .def(
          "stream",
          [](ImportedRows* rows, uint32_t device, uint32_t context, uint32_t stream) {
            return rows->FindStream({device, context, stream});
          },
          "device"_a, "context"_a, "stream"_a)
      .def(
          "text",
          [](ImportedRows* rows, uint32_t kind, const std::string& text, uint32_t layer) {
            return rows->FindName(static_cast<trace::NameKind>(kind),
                                  static_cast<trace::Layer>(layer), text);
          },
          "kind"_a, "text"_a, "layer"_a = 0)
      .def(
          "count",
          [](ImportedRows* rows, const std::string& what, uint64_t count, bool taken) {
            if (count > 0) (taken ? rows->taken : rows->not_taken).Add(what, count);
          },
          "what"_a, "rows"_a, nb::kw_only(), "taken"_a)
      .def("add_operations", &AddOperationRows, "threads"_a, "texts"_a, "start_ns"_a, "end_ns"_a)
      .def("add_calls", &AddCallRows, "threads"_a, "texts"_a, "start_ns"_a, "end_ns"_a)
      .def("add_python", &AddPythonRows, "threads"_a, "start_ns"_a, "end_ns"_a)
      .def("add_cuda_calls", &AddCudaCallRows, "threads"_a, "texts"_a, "start_ns"_a, "end_ns"_a,
           "correlations"_a)
      .def("add_gpu", &AddGpuRows, "kind"_a, "streams"_a, "texts"_a, "start_ns"_a, "end_ns"_a,
           "correlations"_a, "sizes"_a, "hows"_a, "graphs"_a)
      .def(
          "add_iteration",
          [](ImportedRows* rows, uint32_t thread, int64_t start_ns) {
            if (thread >= rows->threads()) throw std::invalid_argument("no such thread");
            if (importers::ProblemOf({start_ns, start_ns}) != nullptr) return;
            rows->AddIteration(thread, start_ns, std::nullopt);
          },
          "thread"_a, "start_ns"_a)
      .def("finish", &ImportedRows::Finish)
      .def(
          "write",
          [](const ImportedRows& rows, const std::string& path, uint64_t start_time,
             int64_t shift_ns, const std::string& host, const std::string& program,
             const nb::dict& metadata) {
            std::vector<std::pair<std::string, std::string>> entries;
            for (const auto& [key, value] : metadata) {
              entries.emplace_back(nb::cast<std::string>(key), nb::cast<std::string>(value));
            }
            return Write(rows, {path, start_time, shift_ns, host, program, entries});
          },
          "path"_a, nb::kw_only(), "start_time"_a, "shift_ns"_a = 0, "host"_a = "",
          "program"_a = "", "metadata"_a = nb::dict());
  nb::class_<KinetoScan>(module, "KinetoScan")
      .def(nb::init<SpillFile*>(), "spill"_a, nb::keep_alive<1, 2>())
      .def("read", &Scan<KinetoScan>, "read"_a)
      .def_prop_ro("facts", &KinetoFacts)
      .def("__len__", &KinetoScan::processes)
      .def("rows", &KinetoScan::rows, "process"_a, nb::rv_policy::reference_internal);
  nb::class_<ChromeScan>(module, "ChromeScan")
      .def(nb::init<SpillFile*>(), "spill"_a, nb::keep_alive<1, 2>())
      .def("read", &Scan<ChromeScan>, "read"_a)
      .def("__len__", &ChromeScan::processes)
      .def("rows", &ChromeScan::rows, "process"_a, nb::rv_policy::reference_internal);
  nb::class_<XprofScan>(module, "XprofScan")
      .def(nb::init<SpillFile*, const std::vector<std::string>&>(), "spill"_a, "operations"_a,
           nb::keep_alive<1, 2>())
      .def("read", &Scan<XprofScan>, "read"_a)
      .def_prop_ro("operations", &XprofScan::operations)
      .def_prop_ro("rows", &XprofScan::rows, nb::rv_policy::reference_internal);
}

}  // namespace rlscope::python
