#include "python/trace_module/directory.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <list>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/events/instances.h"
#include "analysis/gpu/device_times.h"
#include "python/trace_module/columns.h"
#include "python/trace_module/cuda.h"
#include "python/trace_module/error.h"
#include "python/trace_module/idle.h"
#include "python/trace_module/items.h"
#include "python/trace_module/iteration_times.h"
#include "python/trace_module/probes.h"
#include "python/trace_module/relations.h"
#include "python/trace_module/threads.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

constexpr char kLateAttach[] = "late_attach";
constexpr char kCut[] = "cut";
constexpr char kNoDrainer[] = "no_drainer";
constexpr char kRolledUp[] = "rolled_up";

nb::object OrNone(int64_t ns) {
  return ns == trace::kUnknownNs ? nb::none() : nb::object(nb::int_(ns));
}

const char* ToText(base::ClockKind clock) {
  switch (clock) {
    case base::ClockKind::kTsc:
      return "tsc";
    case base::ClockKind::kVirtualCounter:
      return "virtual_counter";
    default:
      return "monotonic";
  }
}

// Facts that only a process with a record has reported.
void AddTraceFacts(const trace::ProcessTrace* trace, nb::dict* facts) {
  nb::list files, closed_files;
  nb::dict metadata;
  if (trace != nullptr) {
    for (const auto& file : trace->files()) {
      files.append(ToStr(file->path()));
      const bool is_closed = file->is_closed() || !file->rolled_up().empty();
      if (is_closed) closed_files.append(ToStr(file->path()));
    }
    for (const auto& [key, value] : trace->metadata().entries) metadata[ToStr(key)] = ToStr(value);
  }
  const trace::ProcessInfo info = trace == nullptr ? trace::ProcessInfo{} : trace->info();
  (*facts)["host"] = ToStr(info.host);
  (*facts)["boot_id"] = ToStr(info.boot_id);
  (*facts)["clock"] = ToText(info.clock);
  (*facts)["tick_hz"] = info.tick_hz;
  (*facts)["files"] = files;
  (*facts)["closed_files"] = closed_files;
  (*facts)["file_bytes"] = trace == nullptr ? 0 : trace->file_bytes();
  const trace::EventCounts events = trace == nullptr ? trace::EventCounts{} : trace->CountEvents();
  (*facts)["events"] = events.Sum();
  (*facts)["operation_events"] = events.operations;
  (*facts)["automatic_events"] = events.automatic;
  (*facts)["native_events"] = events.native_calls;
  (*facts)["cuda_events"] = events.cuda_calls;
  (*facts)["metadata"] = metadata;
  (*facts)["rolled_up"] = trace != nullptr && trace->rolled_up() != nullptr;
}

// A file may hold any text and any number. A relation's numbers are signed, and so are
// their sums.
nb::dict MakeLoss(const std::string& kind, uint64_t count, const char* detail,
                  int64_t duration_ns = trace::kUnknownNs) {
  nb::dict loss;
  loss["kind"] = ToStr(kind);
  loss["count"] = std::min(count, trace::kMostLost);
  loss["duration_ns"] = OrNone(duration_ns);
  loss["detail"] = detail;
  return loss;
}

analysis::LoopSpan SpanOf(const Directory::LoopTimes& loop) {
  return loop ? analysis::LoopSpan{true, loop->first, loop->second} : analysis::LoopSpan();
}

nb::dict TakeDict(Relations relations) {
  nb::dict result;
  for (auto& [name, columns] : relations) result[name] = columns.TakeDict();
  return result;
}

// Runs `function` without the GIL.
template <class Function>
auto WithoutGil(Function function) {
  nb::gil_scoped_release release;
  return function();
}

}  // namespace

Directory::Directory(const std::string& path, const std::string& rings) {
  std::unique_ptr<trace::Directory> opened;
  const base::Status status =
      WithoutGil([&] { return trace::Directory::Open(path, rings, &opened); });
  if (!status.ok()) throw TraceError(status.message());
  directory_ = std::move(opened);
  WithoutGil([&] {
    for (const trace::ProcessImage& image : directory_->processes()) {
      ranges_.push_back(analysis::FindRange(image));
      reached_ns_.push_back(std::make_shared<std::atomic<int64_t>>(ranges_.back().start_ns));
    }
  });
}

const trace::ProcessImage& Directory::Image(size_t process) const {
  if (process >= directory_->processes().size()) throw nb::index_error("no such process");
  return directory_->processes()[process];
}

analysis::ProcessInput Directory::Input(size_t process, uint32_t most_paths) const {
  analysis::ProcessInput input = analysis::MakeInput(Image(process));
  input.most_paths = most_paths;
  input.reached_ns = reached_ns_[process].get();
  return input;
}

nb::list Directory::Processes() const {
  nb::list processes;
  for (size_t i = 0; i < directory_->processes().size(); ++i) processes.append(ProcessDict(i));
  return processes;
}

nb::dict Directory::ProcessDict(size_t process) const {
  const trace::ProcessImage& image = Image(process);
  const bool has_parent = image.parent_index >= 0;
  nb::dict facts;
  facts["index"] = process;
  facts["os_pid"] = image.os_pid;
  facts["parent_index"] = has_parent ? nb::object(nb::int_(image.parent_index)) : nb::none();
  facts["start_time"] = image.start_time;
  facts["began_ns"] = image.began_ns;
  facts["start_ns"] = ranges_[process].start_ns;
  facts["end_ns"] = ranges_[process].end_ns;
  facts["ended"] = trace::ToText(image.ended);
  facts["exit_code"] = image.exit_code < 0 ? nb::none() : nb::object(nb::int_(image.exit_code));
  facts["comm"] = ToStr(image.comm);
  facts["name"] = ToStr(image.name);
  facts["program"] = ToStr(image.program);
  facts["python"] = ToStr(image.python);
  facts["arguments"] = ToStr(image.arguments);
  facts["python_begin_ns"] = OrNone(image.python_begin_ns);
  facts["python_end_ns"] = OrNone(image.python_end_ns);
  facts["cpu_ns"] = OrNone(image.cpu_ns);
  facts["profiler_cpu_ns"] = OrNone(image.profiler_cpu_ns);
  facts["exit_flush_ns"] = OrNone(image.exit_flush_ns);
  facts["forked"] = image.forked;
  facts["late_attach"] = image.late_attach;
  facts["forks"] = image.forks;
  AddTraceFacts(image.trace.get(), &facts);
  return facts;
}

nb::list Directory::Problems() const {
  nb::list problems;
  for (const trace::Problem& problem : directory_->problems()) {
    nb::dict facts;
    facts["file"] = ToStr(problem.file);
    facts["offset"] = problem.offset;
    facts["bytes"] = problem.bytes;
    facts["what"] = ToStr(problem.what);
    problems.append(facts);
  }
  return problems;
}

nb::dict Directory::Threads(size_t process) const {
  const trace::ProcessImage& image = Image(process);
  return WithoutGil([&] { return MakeThreads(image); }).TakeDict();
}

nb::dict Directory::Names(size_t process) const {
  static const std::vector<trace::Name> kNoNames;
  const trace::ProcessImage& image = Image(process);
  const auto& names = image.trace == nullptr ? kNoNames : image.trace->names();
  const size_t count = names.size();
  Columns columns;
  columns.Add("id", MakeColumn<int32_t>(count, [&](size_t i) { return names[i].id; }));
  columns.Add("kind", MakeColumn<int32_t>(count, [&](size_t i) { return names[i].kind; }));
  columns.Add("layer", MakeColumn<int32_t>(count, [&](size_t i) { return names[i].layer; }));
  columns.Add("text", MakeColumn<std::string>(count, [&](size_t i) { return names[i].text; }));
  return columns.TakeDict();
}

// How long the process lived after its recording had stopped for good, where it did and its end is
// known.
int64_t Directory::LostTime(size_t process, const std::string& kind) const {
  const trace::Ended ended = Image(process).ended;
  const bool known = ended == trace::Ended::kExit || ended == trace::Ended::kGone;
  if (!known) return trace::kUnknownNs;
  int64_t stopped_ns = ranges_[process].end_ns;
  if (kind == kCut) {
    stopped_ns = std::max(stopped_ns, directory_->cut_ns());
  } else if (kind != kNoDrainer) {
    return trace::kUnknownNs;
  }
  return std::max<int64_t>(0, Image(process).gone_ns - stopped_ns);
}

nb::object Directory::Cut() const {
  if (directory_->cut() == 0) return nb::none();
  nb::dict cut;
  cut["why"] = directory_->cut();
  cut["time_ns"] = directory_->cut_ns();
  return cut;
}

nb::list Directory::Nested() const {
  nb::list nested;
  for (const std::string& directory : directory_->nested()) nested.append(ToStr(directory));
  return nested;
}

nb::list Directory::Losses(size_t process) const {
  const trace::ProcessImage& image = Image(process);
  nb::list losses;
  // From the log, which also knows processes that recorded nothing.
  if (image.late_attach) {
    losses.append(MakeLoss(kLateAttach, 1, "time before the recorder began", image.late_attach_ns));
  }
  if (image.refused) losses.append(MakeLoss(trace::kNoFiles, 1, "reported by the program"));
  if (image.trace == nullptr) {
    const char* detail = "the program had rings, but no file holds their records";
    if (image.had_rings) losses.append(MakeLoss(trace::kMissingTrace, 1, detail));
    return losses;
  }
  if (const trace::EndInfo* end = image.trace->end()) {
    for (const auto& [kind, count] : end->losses) {
      if (count == 0 || (kind == kLateAttach && image.late_attach)) continue;
      const bool is_damage = kind == trace::kMissingRecords || kind == trace::kDamagedBytes ||
                             kind == trace::kUnreadableFiles;
      losses.append(MakeLoss(kind, count,
                             is_damage ? "found in its rings" : "counted by the program",
                             LostTime(process, kind)));
    }
  }
  if (const trace::RolledUp* rolled_up = image.trace->rolled_up()) {
    const int64_t start_ns = ranges_[process].start_ns;
    const std::string detail =
        "rlscope kept single records only from " + std::to_string(rolled_up->until_ns) + " ns on";
    losses.append(MakeLoss(kRolledUp, rolled_up->events.Sum(), detail.c_str(),
                           std::max<int64_t>(0, rolled_up->until_ns - start_ns)));
  }
  const uint64_t missing = image.trace->missing_slots();
  if (missing > 0) {
    losses.append(MakeLoss(trace::kMissingRecords, missing, "damaged or never written"));
  }
  return losses;
}

nb::dict Directory::Iterations(size_t process) const {
  const trace::ProcessImage& image = Image(process);
  const auto rows = WithoutGil([&] { return analysis::FindIterations(image); });
  Columns columns;
  const size_t count = rows.size();
  columns.Add("start_ns", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].start_ns; }));
  columns.Add("end_ns", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].end_ns; }));
  columns.Add("complete", MakeColumn<int32_t>(count, [&](size_t i) { return rows[i].complete; }));
  columns.Add("gpu_recorded",
              MakeColumn<int32_t>(count, [&](size_t i) { return rows[i].gpu_recorded; }));
  return columns.TakeDict();
}

nb::dict Directory::Items(size_t process, uint32_t thread) const {
  const trace::ProcessImage& image = Image(process);
  return WithoutGil([&] { return MakeItems(image.trace.get(), thread); }).TakeDict();
}

nb::dict Directory::CudaCalls(size_t process, uint32_t thread) const {
  const trace::ProcessImage& image = Image(process);
  return WithoutGil([&] { return MakeCudaCalls(image.trace.get(), thread); }).TakeDict();
}

nb::dict Directory::GpuIntervals(size_t process) const {
  const trace::ProcessImage& image = Image(process);
  return WithoutGil([&] { return MakeGpuIntervals(image.trace.get()); }).TakeDict();
}

nb::dict Directory::Sweep(size_t process, const analysis::SweepOptions& options,
                          uint32_t most_paths) const {
  Relations relations;
  std::optional<RowStream> iteration_times;
  WithoutGil([&] {
    const analysis::ProcessInput input = Input(process, most_paths);
    const std::unique_ptr<analysis::SweepResult> result = analysis::Sweep(input, options);
    relations = MakeRelations(input, *result, options);
    const trace::ProcessTrace* const trace = Image(process).trace.get();
    relations.emplace_back("probe",
                           MakeProbes(result->probes, trace == nullptr ? 0 : TickPs(*trace)));
    iteration_times.emplace(StreamIterationTimes(result.get()));
  });
  nb::dict found;
  for (auto& [name, columns] : relations) found[name] = columns.TakeDict();
  found["iteration_breakdown"] = *iteration_times;
  return found;
}

RowOptions Directory::MakeRowOptions(size_t process, int64_t first_thread,
                                     const Operations& operations, uint32_t most_paths) const {
  Image(process);
  RowOptions options = {process, first_thread, {}, most_paths, reached_ns_[process]};
  for (const auto& [path, source, id] : operations) {
    options.operations.push_back({path, source == "automatic", id});
  }
  return options;
}

RowStream Directory::EventRows(size_t process, int64_t first_thread, const Operations& operations,
                               uint32_t most_paths) const {
  return StreamEvents(directory_, MakeRowOptions(process, first_thread, operations, most_paths));
}

RowStream Directory::InstanceRows(size_t process, int64_t first_thread,
                                  const Operations& operations, uint32_t most_paths) const {
  return StreamInstances(directory_, MakeRowOptions(process, first_thread, operations, most_paths));
}

nb::dict Directory::CudaRelations(size_t process, const LoopTimes& loop,
                                  uint32_t most_paths) const {
  return TakeDict(WithoutGil([&] {
    const analysis::ProcessInput input = Input(process, most_paths);
    return MakeCudaRelations(input, *analysis::FindCuda(input, SpanOf(loop)));
  }));
}

nb::dict Directory::Idle(size_t process, const LoopTimes& loop, const SeenTimes& seen,
                         uint32_t most_paths) const {
  return TakeDict(WithoutGil([&] {
    const analysis::ProcessInput input = Input(process, most_paths);
    std::vector<analysis::SeenSpan> spans;
    if (seen) {
      for (const auto& [start_ns, end_ns, is_sample] : *seen)
        spans.push_back({start_ns, end_ns, is_sample});
    }
    return MakeIdleRelations(*analysis::FindIdle(input, SpanOf(loop), seen ? &spans : nullptr));
  }));
}

class Directory::Uses {
 public:
  Uses(const Directory& directory, const DeviceUses& uses) {
    for (const auto& [process, device] : uses) {
      inputs_.push_back(analysis::MakeInput(directory.Image(process)));
      uses_.push_back({&inputs_.back(), device});
    }
  }
  const std::vector<analysis::DeviceUse>& get() const { return uses_; }

 private:
  std::list<analysis::ProcessInput> inputs_;  // which stay where they are
  std::vector<analysis::DeviceUse> uses_;
};

int64_t Directory::DeviceBusyNs(const DeviceUses& uses,
                                const std::vector<std::pair<int64_t, int64_t>>& spans) const {
  for (const auto& [process, device] : uses) Image(process);
  return WithoutGil([&] {
    std::vector<analysis::Span> measured;
    for (const auto& [start_ns, end_ns] : spans) measured.push_back({start_ns, end_ns});
    return analysis::FindBusyTime(Uses(*this, uses).get(), measured);
  });
}

nb::dict Directory::DeviceTimes(const DeviceUses& uses, const analysis::Span& grid,
                                uint32_t buckets) const {
  for (const auto& [process, device] : uses) Image(process);
  std::vector<int64_t> start_ns, busy_ns;
  int64_t bucket_ns = 0;
  WithoutGil([&] {
    const analysis::DeviceTimes times =
        analysis::FindDeviceTimes(Uses(*this, uses).get(), grid, buckets);
    bucket_ns = times.grid.bucket_ns;
    for (size_t bucket = 0; bucket < times.busy_ns.size(); ++bucket) {
      if (times.busy_ns[bucket] == 0) continue;
      start_ns.push_back(times.grid.StartOf(static_cast<int64_t>(bucket)));
      busy_ns.push_back(times.busy_ns[bucket]);
    }
  });
  Columns columns;
  columns.Add("bucket_ns", std::vector<int64_t>(start_ns.size(), bucket_ns));
  columns.Add("start_ns", std::move(start_ns));
  columns.Add("busy_ns", std::move(busy_ns));
  return columns.TakeDict();
}

int64_t Directory::ReachedNs(size_t process) const {
  Image(process);
  return reached_ns_[process]->load(std::memory_order_relaxed);
}

void AddDirectory(nb::module_& module) {
  nb::class_<Directory>(module, "Directory")
      .def(
          "__init__",
          [](Directory* self, const std::string& path, const std::optional<std::string>& rings) {
            new (self) Directory(path, rings.value_or(""));
          },
          "path"_a, "rings"_a = nb::none())
      .def_prop_ro("processes", &Directory::Processes)
      .def_prop_ro("problems", &Directory::Problems)
      .def_prop_ro("cut", &Directory::Cut)
      .def_prop_ro("nested", &Directory::Nested)
      .def("threads", &Directory::Threads, "process"_a)
      .def("names", &Directory::Names, "process"_a)
      .def("losses", &Directory::Losses, "process"_a)
      .def("iterations", &Directory::Iterations, "process"_a)
      .def("items", &Directory::Items, "process"_a, "thread"_a)
      .def("cuda_calls", &Directory::CudaCalls, "process"_a, "thread"_a)
      .def("gpu_intervals", &Directory::GpuIntervals, "process"_a)
      .def("event_rows", &Directory::EventRows, "process"_a, nb::kw_only(), "first_thread"_a,
           "operations"_a, "most_paths"_a = analysis::kMaxPaths)
      .def("instance_rows", &Directory::InstanceRows, "process"_a, nb::kw_only(), "first_thread"_a,
           "operations"_a, "most_paths"_a = analysis::kMaxPaths)
      .def("reached_ns", &Directory::ReachedNs, "process"_a)
      .def("cuda_relations", &Directory::CudaRelations, "process"_a, nb::kw_only(),
           "loop"_a = nb::none(), "most_paths"_a = analysis::kMaxPaths)
      .def("idle", &Directory::Idle, "process"_a, nb::kw_only(), "loop"_a = nb::none(),
           "seen"_a = nb::none(), "most_paths"_a = analysis::kMaxPaths)
      .def(
          "sweep",
          [](const Directory& self, size_t process, bool by_thread, bool counts, uint32_t buckets,
             bool gpu, bool bookkeeping, std::pair<int64_t, int64_t> grid, uint32_t most_paths) {
            const analysis::Span whole = {grid.first, grid.second};
            return self.Sweep(process, {by_thread, counts, buckets, gpu, bookkeeping, whole},
                              most_paths);
          },
          "process"_a, nb::kw_only(), "by_thread"_a = true, "counts"_a = true, "buckets"_a = 2000,
          "gpu"_a = true, "bookkeeping"_a = true, "grid"_a = std::pair<int64_t, int64_t>{0, 0},
          "most_paths"_a = analysis::kMaxPaths)
      .def(
          "device_times",
          [](const Directory& self, const Directory::DeviceUses& uses,
             std::pair<int64_t, int64_t> grid, uint32_t buckets) {
            return self.DeviceTimes(uses, {grid.first, grid.second}, buckets);
          },
          "uses"_a, nb::kw_only(), "grid"_a, "buckets"_a = 2000)
      .def("device_busy_ns", &Directory::DeviceBusyNs, "uses"_a, nb::kw_only(), "spans"_a);
}

}  // namespace rlscope::python
