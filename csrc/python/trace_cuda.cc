#include "python/trace_cuda.h"

#include <cxxabi.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/path_rows.h"
#include "python/trace_relations.h"

namespace rlscope::python {
namespace {

using analysis::CudaResult;
using analysis::GpuWorkRow;
using analysis::PathRows;

// What stands in a column `operation` for work with no launch in the trace.
constexpr int32_t kUnlinked = -1;

int32_t OperationOf(const PathRows& paths, uint32_t path) {
  return path == analysis::kUnlinkedPath ? kUnlinked : static_cast<int32_t>(paths.RowOf(path));
}

class NameTexts {
 public:
  explicit NameTexts(const std::vector<trace::Name>& names) {
    for (const trace::Name& name : names) texts_[name.id] = &name.text;
  }
  std::string Of(uint32_t id) const {
    const auto text = texts_.find(id);
    return text == texts_.end() ? "(unknown)" : *text->second;
  }

 private:
  std::unordered_map<uint32_t, const std::string*> texts_;
};

// ---- work of the GPU ----------------------------------------------------------------------------

// Names by text: a process may hold one under two ids.
struct WorkKey {
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  std::string name;
  uint32_t number;  // graph or `how`
  int32_t operation;

  bool operator<(const WorkKey& other) const {
    return std::tie(device, context, stream, name, number, operation) <
           std::tie(other.device, other.context, other.stream, other.name, other.number,
                    other.operation);
  }
};
using WorkRows = std::vector<std::pair<WorkKey, GpuWorkRow>>;

void AddWork(const GpuWorkRow& row, GpuWorkRow* sum) {
  sum->min_ns = sum->count == 0 ? row.min_ns : std::min(sum->min_ns, row.min_ns);
  sum->max_ns = std::max(sum->max_ns, row.max_ns);
  sum->count += row.count;
  sum->bytes += row.bytes;
  sum->launch_bound += row.launch_bound;
  sum->duration_ns += row.duration_ns;
}

// `names`: null where the work has numbers.
WorkRows SortWork(const analysis::SpillTable<GpuWorkRow>& table,
                  const analysis::ProcessInput& input, const PathRows& paths,
                  const NameTexts* names) {
  std::map<WorkKey, GpuWorkRow> rows;
  for (const GpuWorkRow& row : table.slots()) {
    if (row.key == 0) continue;
    const analysis::GpuInput& stream = input.gpu[row.stream()];
    AddWork(row, &rows[{stream.device, stream.context, stream.stream,
                        names != nullptr ? names->Of(row.what()) : std::string(),
                        names != nullptr ? 0 : row.what(), OperationOf(paths, row.path())}]);
  }
  return {rows.begin(), rows.end()};
}

template <class Value>
std::vector<int64_t> Numbers(const WorkRows& rows, Value GpuWorkRow::* member) {
  return MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].second.*member; });
}

Columns BeginWork(const WorkRows& rows) {
  const auto key = [&](size_t i) -> const WorkKey& { return rows[i].first; };
  const size_t count = rows.size();
  Columns columns;
  columns.Add("device", MakeColumn<int64_t>(count, [&](size_t i) { return key(i).device; }));
  columns.Add("context", MakeColumn<int64_t>(count, [&](size_t i) { return key(i).context; }));
  columns.Add("stream", MakeColumn<int64_t>(count, [&](size_t i) { return key(i).stream; }));
  columns.Add("operation", MakeColumn<int32_t>(count, [&](size_t i) { return key(i).operation; }));
  columns.Add("count", Numbers(rows, &GpuWorkRow::count));
  columns.Add("duration_ns", Numbers(rows, &GpuWorkRow::duration_ns));
  return columns;
}

void AddLaunches(const WorkRows& rows, Columns* columns) {
  columns->Add("min_ns", Numbers(rows, &GpuWorkRow::min_ns));
  columns->Add("max_ns", Numbers(rows, &GpuWorkRow::max_ns));
  columns->Add("launch_bound", Numbers(rows, &GpuWorkRow::launch_bound));
}

// The name as its source spells it; itself if it is none of C++.
std::string Demangle(const std::string& name) {
  char* const plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr);
  if (plain == nullptr) return name;
  std::string text(plain);
  free(plain);
  return text;
}

Columns MakeKernels(const WorkRows& rows) {
  const auto name = [&](size_t i) { return rows[i].first.name; };
  // Rows of one name are many: one for each stream and operation.
  std::unordered_map<std::string, std::string> functions;
  for (const auto& row : rows) {
    std::string* const function = &functions[row.first.name];
    if (function->empty()) *function = Demangle(row.first.name);
  }
  Columns columns = BeginWork(rows);
  columns.Add("name", MakeColumn<std::string>(rows.size(), name));
  columns.Add("function",
              MakeColumn<std::string>(rows.size(), [&](size_t i) { return functions[name(i)]; }));
  AddLaunches(rows, &columns);
  return columns;
}

Columns MakeGraphs(const WorkRows& rows) {
  Columns columns = BeginWork(rows);
  columns.Add("graph",
              MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].first.number; }));
  AddLaunches(rows, &columns);
  return columns;
}

// CUPTI's numbers of directions and of kinds of memory.
const std::vector<std::string>& Directions() {
  static const auto* const words = new std::vector<std::string>{
      "unknown",          "host_to_device", "device_to_host",  "host_to_array",
      "array_to_host",    "array_to_array", "array_to_device", "device_to_array",
      "device_to_device", "host_to_host",   "peer_to_peer"};
  return *words;
}
const std::vector<std::string>& Memories() {
  static const auto* const words =
      new std::vector<std::string>{"unknown", "pageable", "pinned",        "device",
                                   "array",   "managed",  "device_static", "managed_static"};
  return *words;
}

Words MakeWords(const std::vector<std::string>& words, std::vector<uint8_t> index) {
  for (uint8_t& each : index) each = each < words.size() ? each : 0;
  return {words, std::move(index)};
}

Columns MakeCopies(const WorkRows& rows) {
  Columns columns = BeginWork(rows);
  columns.Add("direction", MakeWords(Directions(), MakeColumn<uint8_t>(rows.size(), [&](size_t i) {
                                       return rows[i].first.number & 15;
                                     })));
  columns.Add("memory", MakeWords(Memories(), MakeColumn<uint8_t>(rows.size(), [&](size_t i) {
                                    return rows[i].first.number >> 4;
                                  })));
  columns.Add("bytes", Numbers(rows, &GpuWorkRow::bytes));
  return columns;
}

Columns MakeSets(const WorkRows& rows) {
  Columns columns = BeginWork(rows);
  columns.Add("memory", MakeWords(Memories(), MakeColumn<uint8_t>(rows.size(), [&](size_t i) {
                                    return rows[i].first.number;
                                  })));
  columns.Add("bytes", Numbers(rows, &GpuWorkRow::bytes));
  return columns;
}

// ---- calls and times ----------------------------------------------------------------------------

Columns MakeApiCalls(const CudaResult& result, const PathRows& paths, const NameTexts& names) {
  std::map<std::pair<std::string, int32_t>, analysis::ApiCallRow> rows;
  for (const analysis::ApiCallRow& row : result.api_calls.slots()) {
    if (row.key == 0) continue;
    analysis::ApiCallRow* const sum = &rows[{names.Of(row.name()), OperationOf(paths, row.path())}];
    sum->calls += row.calls;
    sum->errors += row.errors;
    sum->with_work += row.with_work;
    sum->duration_ns += row.duration_ns;
  }
  std::vector<std::string> name;
  std::vector<int32_t> operation;
  std::vector<int64_t> calls, duration_ns, errors, with_work;
  for (const auto& [key, row] : rows) {
    name.push_back(key.first);
    operation.push_back(key.second);
    calls.push_back(static_cast<int64_t>(row.calls));
    duration_ns.push_back(row.duration_ns);
    errors.push_back(static_cast<int64_t>(row.errors));
    with_work.push_back(static_cast<int64_t>(row.with_work));
  }
  Columns columns;
  columns.Add("name", std::move(name));
  columns.Add("operation", std::move(operation));
  columns.Add("calls", std::move(calls));
  columns.Add("duration_ns", std::move(duration_ns));
  columns.Add("errors", std::move(errors));
  columns.Add("with_work", std::move(with_work));
  return columns;
}

Columns MakeSyncs(const CudaResult& result, const PathRows& paths) {
  std::vector<analysis::SyncRow> rows;
  for (const analysis::SyncRow& row : result.syncs.rows().slots()) {
    if (row.key != 0) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  const size_t count = rows.size();
  Columns columns;
  columns.Add("kind", Words{{"other", "event", "stream_wait_event", "stream", "device"},
                            MakeColumn<uint8_t>(count, [&](size_t i) {
                              return static_cast<uint8_t>(rows[i].kind());
                            })});
  columns.Add("operation", MakeColumn<int32_t>(count, [&](size_t i) {
                return OperationOf(paths, rows[i].path());
              }));
  columns.Add("count", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].count; }));
  columns.Add("duration_ns",
              MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].duration_ns; }));
  columns.Add("waiting_ns",
              MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].waiting_ns; }));
  return columns;
}

Columns MakeGpuTimes(const CudaResult& result, const PathRows& paths) {
  std::vector<int32_t> operation;
  std::vector<int64_t> device, while_ns, launched_ns;
  for (const analysis::DeviceTime& time : result.devices) {
    const auto add = [&](uint32_t path) {
      const auto at = [path](const auto& times) { return path < times.size() ? times[path] : 0; };
      if (at(time.while_ns) == 0 && at(time.launched_ns) == 0) return;
      device.push_back(time.device);
      operation.push_back(OperationOf(paths, path));
      while_ns.push_back(at(time.while_ns));
      launched_ns.push_back(at(time.launched_ns));
    };
    for (uint32_t path : paths.order()) add(path);
    add(analysis::kUnlinkedPath);
  }
  Columns columns;
  columns.Add("device", std::move(device));
  columns.Add("operation", std::move(operation));
  columns.Add("while_ns", std::move(while_ns));
  columns.Add("launched_ns", std::move(launched_ns));
  return columns;
}

Columns MakeCudaLosses(const CudaResult& result) {
  const size_t rows = result.unlinked > 0;
  Columns columns;
  columns.Add("kind", std::vector<std::string>(rows, "gpu_work_without_launch"));
  columns.Add("count", std::vector<int64_t>(rows, static_cast<int64_t>(result.unlinked)));
  columns.Add("duration_ns", Nulls{rows});
  columns.Add("detail", std::vector<std::string>(rows));
  return columns;
}

}  // namespace

Relations MakeCudaRelations(const analysis::ProcessInput& input, const CudaResult& result) {
  const PathRows paths(result.paths, result.has_gaps);
  const NameTexts names(input.names);
  const auto sorted = [&](const analysis::SpillTable<GpuWorkRow>& table, const NameTexts* texts) {
    return SortWork(table, input, paths, texts);
  };
  Relations relations;
  relations.emplace_back("operation", MakeOperations(result.paths, paths));
  relations.emplace_back("api_call", MakeApiCalls(result, paths, names));
  relations.emplace_back("kernel", MakeKernels(sorted(result.kernels, &names)));
  relations.emplace_back("graph", MakeGraphs(sorted(result.graphs, nullptr)));
  relations.emplace_back("memcpy", MakeCopies(sorted(result.copies, nullptr)));
  relations.emplace_back("memset", MakeSets(sorted(result.sets, nullptr)));
  relations.emplace_back("sync", MakeSyncs(result, paths));
  relations.emplace_back("gpu_time", MakeGpuTimes(result, paths));
  relations.emplace_back("loss", MakeCudaLosses(result));
  return relations;
}

}  // namespace rlscope::python
