// _trace.KinetoScan: a trace of torch.profiler, read and written as a trace file.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "importers/kineto.h"
#include "importers/spill_file.h"
#include "importers/trace_file.h"
#include "python/trace_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

using importers::KinetoScan;
using importers::SpillFile;

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

using Counts = std::map<std::string, uint64_t>;

nb::dict ToDict(const Counts& counts) {
  nb::dict found;
  for (const auto& [what, count] : counts) found[ToUtf8(what).c_str()] = count;
  return found;
}

void Scan(KinetoScan* scan, nb::callable read) {
  PythonSource source(std::move(read));
  try {
    const nb::gil_scoped_release release;
    scan->Read(&source);
  } catch (const importers::FormatError& error) {
    throw TraceError(error.what());
  }
}

nb::dict Facts(const KinetoScan& scan) {
  const importers::KinetoFacts& facts = scan.facts();
  nb::dict found;
  found["base_ns"] = facts.base_ns;
  found["first_ns"] = scan.first_ns();
  found["last_ns"] = scan.last_ns();
  found["empty"] = scan.empty();
  found["rank"] = facts.rank;
  found["world_size"] = facts.world_size;
  found["backend"] = ToUtf8(facts.backend);
  found["host_name"] = ToUtf8(facts.host_name);
  std::vector<std::string> devices;
  for (const std::string& device : facts.devices) devices.push_back(ToUtf8(device));
  found["devices"] = devices;
  found["first_step"] = facts.first_step;
  found["os_pid"] = scan.os_pid();
  found["process_name"] = ToUtf8(scan.process_name());
  found["has_gpu_work"] = scan.has_gpu_work();
  found["taken"] = ToDict(scan.taken());
  found["not_taken"] = ToDict(scan.not_taken());
  return found;
}

struct Target {
  std::string path;
  uint64_t start_time;
  int64_t shift_ns;
  std::string host;
  std::string program;
  std::map<std::string, std::string> metadata;
};

nb::dict Write(const KinetoScan& scan, const Target& target) {
  nb::gil_scoped_release release;
  const int64_t began_ns = scan.first_ns() + target.shift_ns;
  trace::ProcessFields process{};
  process.tool_version = "";
  process.host = target.host.c_str();
  process.boot_id = "";
  process.os_pid = scan.os_pid();
  process.start_time = target.start_time;
  process.began_ns = began_ns;
  process.clock = base::ClockKind::kMonotonic;
  process.tick_hz = 1'000'000'000;
  process.main_thread = scan.os_pid();
  importers::TraceFile file(target.path, process);
  std::vector<trace::MetadataFields> entries;
  for (const auto& [key, value] : target.metadata) {
    entries.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
  }
  file.AddMetadata({{}, {target.program.data(), target.program.size()}, {}}, entries);
  const KinetoScan::Losses losses = scan.WriteTo(&file, target.shift_ns);
  std::vector<trace::LossFields> fields;
  if (losses.names > 0) fields.push_back({"names", losses.names});
  if (losses.too_deep > 0) fields.push_back({"too_deep", losses.too_deep});
  // When the process ended is not known: it ends with its last record.
  const trace::EndFields end = {0, false, scan.has_python() ? began_ns : 0, 0, 0};
  file.End(end, fields);
  Counts counts;
  for (const trace::LossFields& loss : fields) counts[loss.kind] = loss.count;
  if (file.clamped() > 0) counts["clamped"] = file.clamped();
  file.Close();
  const nb::gil_scoped_acquire acquire;
  return ToDict(counts);
}

}  // namespace

void AddImporters(nb::module_& module) {
  nb::class_<SpillFile>(module, "SpillFile").def(nb::init<>());
  nb::class_<KinetoScan>(module, "KinetoScan")
      .def(nb::init<SpillFile*>(), "spill"_a, nb::keep_alive<1, 2>())
      .def("read", &Scan, "read"_a)
      .def_prop_ro("facts", &Facts)
      .def(
          "write",
          [](const KinetoScan& scan, const std::string& path, uint64_t start_time, int64_t shift_ns,
             const std::string& host, const std::string& program,
             const std::map<std::string, std::string>& metadata) {
            return Write(scan, {path, start_time, shift_ns, host, program, metadata});
          },
          "path"_a, nb::kw_only(), "start_time"_a, "shift_ns"_a = 0, "host"_a = "",
          "program"_a = "", "metadata"_a = std::map<std::string, std::string>());
}

}  // namespace rlscope::python
