#include "python/trace_module/writer.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <string.h>

#include <algorithm>
#include <stdexcept>

#include "base/crc32c.h"
#include "trace/layout/shared_pages.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

constexpr uint64_t kNanosecondHz = 1000000000;

trace::Text ToText(const std::string& text) { return {text.data(), text.size()}; }

template <class First, class... Rest>
void CheckLengths(const First& first, const Rest&... rest) {
  if (((rest.shape(0) != first.shape(0)) || ...)) {
    throw std::invalid_argument("the arrays differ in length");
  }
}

template <class T>
void CheckLength(size_t length, const OptionalArray<T>& array) {
  if (array && array->shape(0) != length)
    throw std::invalid_argument("the arrays differ in length");
}

trace::ProcessFields ToProcess(const WriterOptions& options) {
  trace::ProcessFields fields{};
  fields.tool_version = "";
  fields.host = options.host.c_str();
  fields.boot_id = options.boot_id.c_str();
  fields.os_pid = options.os_pid;
  fields.start_time = options.start_time;
  fields.began_ns = options.began_ns;
  fields.clock = options.clock_pairs ? base::ClockKind::kTsc : base::ClockKind::kMonotonic;
  fields.tick_hz = kNanosecondHz;
  fields.main_thread = options.main_thread;
  return fields;
}

}  // namespace

Writer::Writer(const std::string& path, const WriterOptions& options)
    : file_(path, ToProcess(options)) {
  for (const auto& [ticks, starts] : options.windows) file_.AddWindowChange(ticks, starts);
  if (!options.clock_pairs) return;
  std::vector<base::ClockPair> pairs;
  for (const auto& [ticks, ns] : *options.clock_pairs) pairs.push_back({ticks, ns});
  file_.AddClockPairs(pairs);
}

uint32_t Writer::Name(uint32_t kind, const std::string& text, uint32_t layer) {
  return file_.AddName(static_cast<trace::NameKind>(kind), text, static_cast<trace::Layer>(layer));
}

void Writer::Thread(uint32_t thread, uint32_t os_tid, const std::string& name, bool is_python) {
  file_.AddThread({thread, os_tid, is_python, ToText(name)});
}

void Writer::Metadata(const std::vector<std::pair<std::string, std::string>>& entries,
                      const std::string& process_name, const std::string& program,
                      const std::string& python) {
  std::vector<trace::MetadataFields> fields;
  for (const auto& [key, value] : entries) fields.push_back({ToText(key), ToText(value)});
  file_.AddMetadata({ToText(process_name), ToText(program), ToText(python)}, fields);
}

void Writer::End(int64_t end_ns, bool exited, int64_t python_begin_ns, int64_t python_end_ns,
                 const std::vector<std::pair<std::string, uint64_t>>& losses) {
  std::vector<trace::LossFields> fields;
  for (const auto& [kind, count] : losses) fields.push_back({kind.c_str(), count});
  file_.End({end_ns, exited, python_begin_ns, python_end_ns, 0}, std::move(fields));
}

// ---- items and intervals ------------------------------------------------------------------------

void Writer::Items(uint32_t thread, const Array<int64_t>& ticks, const Array<uint32_t>& kinds,
                   const Array<uint32_t>& ids, const OptionalArray<int64_t>& durations,
                   const OptionalArray<uint64_t>& values) {
  CheckLengths(ticks, kinds, ids);
  CheckLength(ticks.shape(0), durations);
  CheckLength(ticks.shape(0), values);
  nb::gil_scoped_release release;
  file_.BeginItems(thread);
  for (size_t i = 0; i < ticks.shape(0); ++i) {
    file_.AddItem(static_cast<uint64_t>(ticks.data()[i]), kinds.data()[i], ids.data()[i],
                  durations ? static_cast<uint64_t>(durations->data()[i]) : 0,
                  values ? values->data()[i] : 0);
  }
  file_.EndItems();
}

void Writer::States(const std::vector<StateSample>& samples) {
  for (const auto& [time_ns, awake, nodes] : samples) {
    std::vector<trace::ThreadStack> stacks;
    for (const auto& [thread, node] : nodes) stacks.push_back({thread, node});
    file_.AddStates(time_ns, awake, stacks);
  }
}

namespace {

std::vector<trace::FunctionFields> ToFunctions(const Writer::StackFunctions& functions) {
  std::vector<trace::FunctionFields> fields;
  for (const auto& [file, name, line] : functions) {
    fields.push_back({ToText(file), ToText(name), line});
  }
  return fields;
}

std::vector<trace::NodeFields> ToNodes(const Writer::StackNodes& nodes) {
  std::vector<trace::NodeFields> fields;
  for (const auto& [parent, function, line] : nodes) fields.push_back({parent, function, line});
  return fields;
}

}  // namespace

void Writer::Stacks(const StackFunctions& functions, const StackNodes& nodes) {
  file_.AddStacks(ToFunctions(functions), ToNodes(nodes));
}

void Writer::CallSites(const StackFunctions& functions, const StackNodes& nodes) {
  file_.AddCallSites(ToFunctions(functions), ToNodes(nodes));
}

void Writer::OpenWait(uint32_t thread, int64_t ticks, uint32_t id) {
  file_.AddOpenWait(thread, static_cast<uint64_t>(ticks), id);
}

void Writer::CudaCalls(uint32_t thread, const Array<int64_t>& ticks,
                       const Array<int64_t>& durations, const Array<uint32_t>& names,
                       const Array<int64_t>& correlations, const OptionalArray<uint32_t>& statuses,
                       const OptionalArray<uint32_t>& sites) {
  CheckLengths(ticks, durations, names, correlations);
  CheckLength(ticks.shape(0), statuses);
  CheckLength(ticks.shape(0), sites);
  nb::gil_scoped_release release;
  std::vector<trace::CudaCall> calls;
  for (size_t i = 0; i < ticks.shape(0); ++i) {
    const uint64_t start = static_cast<uint64_t>(ticks.data()[i]);
    calls.push_back({start, static_cast<uint64_t>(durations.data()[i]), names.data()[i],
                     correlations.data()[i], statuses ? statuses->data()[i] : 0, 0,
                     sites ? sites->data()[i] : 0});
  }
  file_.AddCudaCalls(thread, calls.data(), calls.size());
}

void Writer::Gpu(uint32_t device, uint32_t context, uint32_t stream, const Array<int64_t>& start_ns,
                 const Array<int64_t>& duration_ns, const Array<uint32_t>& kinds,
                 const Array<uint32_t>& names, const Array<int64_t>& correlations,
                 const OptionalArray<int64_t>& sizes, const OptionalArray<uint32_t>& graphs,
                 const OptionalArray<uint32_t>& hows) {
  CheckLengths(start_ns, duration_ns, kinds, names, correlations);
  CheckLength(start_ns.shape(0), sizes);
  CheckLength(start_ns.shape(0), graphs);
  CheckLength(start_ns.shape(0), hows);
  nb::gil_scoped_release release;
  std::vector<trace::GpuInterval> intervals;
  for (size_t i = 0; i < start_ns.shape(0); ++i) {
    intervals.push_back({start_ns.data()[i],
                         duration_ns.data()[i],
                         static_cast<trace::GpuKind>(kinds.data()[i]),
                         names.data()[i],
                         correlations.data()[i],
                         sizes ? static_cast<uint64_t>(sizes->data()[i]) : 0,
                         graphs ? graphs->data()[i] : 0,
                         {}});
    if (hows) intervals.back().detail.how = static_cast<uint8_t>(hows->data()[i]);
  }
  file_.AddGpu({device, context, stream}, intervals.data(), intervals.size());
}

// ---- module -------------------------------------------------------------------------------------

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;
using LossCounts = std::vector<std::pair<std::string, uint64_t>>;

template <class Result>
Result ItemsOf(const nb::object& mapping) {
  if (mapping.is_none()) return {};
  return nb::cast<Result>(nb::list(mapping.attr("items")()));
}

struct RecordFields {
  uint32_t pid, parent_pid;
  uint64_t start_time, pid_namespace;
  int64_t began_ns, time_ns, cpu_ns, profiler_cpu_ns, python_end_ns, exit_flush_ns;
  uint32_t flags;
};

nb::bytes MakeProcessRecord(uint16_t event, const RecordFields& fields, const std::string& name) {
  trace::ProcessRecord record = {};
  record.magic = trace::kProcessRecordMagic;
  record.version = static_cast<uint16_t>(trace::kAbiVersion);
  record.event = event;
  record.pid = fields.pid;
  record.parent_pid = fields.parent_pid;
  record.flags = fields.flags;
  record.start_time = fields.start_time;
  record.pid_namespace = fields.pid_namespace;
  record.began_ns = fields.began_ns;
  record.time_ns = fields.time_ns;
  record.cpu_ns = fields.cpu_ns;
  record.profiler_cpu_ns = fields.profiler_cpu_ns;
  record.python_end_ns = fields.python_end_ns;
  memcpy(record.name, name.data(), std::min(name.size(), sizeof record.name));
  if (event == static_cast<uint16_t>(trace::ProcessEvent::kEnded)) {
    record.ended.exit_flush_ns = fields.exit_flush_ns;
  }
  record.crc = base::Crc32c(0, &record, sizeof record);
  return nb::bytes(&record, sizeof record);
}

void AddWriterClass(nb::module_& module) {
  nb::class_<Writer>(module, "Writer")
      .def(
          "__init__",
          [](Writer* self, const std::string& path, uint32_t os_pid, int64_t began_ns,
             uint64_t start_time, const std::string& host, const std::string& boot_id,
             uint32_t main_thread,
             const std::optional<std::vector<std::pair<uint64_t, int64_t>>>& clock_pairs,
             const std::vector<std::pair<uint64_t, bool>>& windows) {
            new (self) Writer(path, {os_pid, began_ns, start_time, host, boot_id, main_thread,
                                     clock_pairs, windows});
          },
          "path"_a, nb::kw_only(), "os_pid"_a, "began_ns"_a, "start_time"_a = 0, "host"_a = "",
          "boot_id"_a = "", "main_thread"_a = 0, "clock_pairs"_a = nb::none(),
          "windows"_a = std::vector<std::pair<uint64_t, bool>>())
      .def("name", &Writer::Name, "kind"_a, "text"_a, "layer"_a = 0)
      .def("thread", &Writer::Thread, "thread"_a, "os_tid"_a, "name"_a = "", "is_python"_a = true)
      .def(
          "metadata",
          [](Writer& self, const nb::object& entries, const std::string& process_name,
             const std::string& program, const std::string& python) {
            self.Metadata(ItemsOf<Entries>(entries), process_name, program, python);
          },
          "entries"_a, nb::kw_only(), "process_name"_a = "", "program"_a = "", "python"_a = "")
      .def("items", &Writer::Items, "thread"_a, "ticks"_a, "kinds"_a, "ids"_a,
           "durations"_a = nb::none(), "values"_a = nb::none())
      .def("states", &Writer::States, "samples"_a)
      .def("stacks", &Writer::Stacks, "functions"_a, "nodes"_a)
      .def("call_sites", &Writer::CallSites, "functions"_a, "nodes"_a)
      .def("open_wait", &Writer::OpenWait, "thread"_a, "ticks"_a, "id"_a)
      .def("cuda_calls", &Writer::CudaCalls, "thread"_a, "ticks"_a, "durations"_a, "names"_a,
           "correlations"_a, "statuses"_a = nb::none(), "sites"_a = nb::none())
      .def("gpu", &Writer::Gpu, "device"_a, "context"_a, "stream"_a, "start_ns"_a, "duration_ns"_a,
           "kinds"_a, "names"_a, "correlations"_a, "sizes"_a = nb::none(), "graphs"_a = nb::none(),
           "hows"_a = nb::none())
      .def(
          "end",
          [](Writer& self, int64_t end_ns, bool exited, int64_t python_begin_ns,
             int64_t python_end_ns, const nb::object& losses) {
            self.End(end_ns, exited, python_begin_ns, python_end_ns, ItemsOf<LossCounts>(losses));
          },
          "end_ns"_a, nb::kw_only(), "exited"_a = true, "python_begin_ns"_a = 0,
          "python_end_ns"_a = 0, "losses"_a = nb::none())
      .def("close_for_next", &Writer::CloseForNext)
      .def("close", &Writer::Close);
}

}  // namespace

void AddWriter(nb::module_& module) {
  AddWriterClass(module);
  module.def(
      "process_record",
      [](uint16_t event, uint32_t pid, uint32_t parent_pid, uint64_t start_time,
         uint64_t pid_namespace, int64_t began_ns, int64_t time_ns, int64_t cpu_ns,
         int64_t profiler_cpu_ns, int64_t python_end_ns, int64_t exit_flush_ns, uint32_t flags,
         const std::string& name) {
        return MakeProcessRecord(event,
                                 {pid, parent_pid, start_time, pid_namespace, began_ns, time_ns,
                                  cpu_ns, profiler_cpu_ns, python_end_ns, exit_flush_ns, flags},
                                 name);
      },
      "event"_a, nb::kw_only(), "pid"_a, "parent_pid"_a = 0, "start_time"_a = 0,
      "pid_namespace"_a = 0, "began_ns"_a = 0, "time_ns"_a = 0, "cpu_ns"_a = 0,
      "profiler_cpu_ns"_a = 0, "python_end_ns"_a = 0, "exit_flush_ns"_a = 0, "flags"_a = 0,
      "name"_a = "");
}

}  // namespace rlscope::python
