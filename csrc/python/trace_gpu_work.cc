#include "python/trace_gpu_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "python/trace_function_names.h"

namespace rlscope::python {
namespace {

using analysis::GpuWorkRow;
using analysis::PathRows;

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

}  // namespace

Columns MakeKernels(const analysis::ProcessInput& input, const analysis::CudaResult& result,
                    const PathRows& paths, const NameTexts& names) {
  const WorkRows rows = SortWork(result.kernels, input, paths, &names);
  const auto name = [&](size_t i) { return rows[i].first.name; };
  // Rows of one name are many: one for each stream and operation.
  std::set<std::string> distinct;
  for (const auto& row : rows) distinct.insert(row.first.name);
  const std::unordered_map<std::string, std::string> functions = Demangle(distinct);
  const auto function = [&](size_t i) {
    const auto found = functions.find(name(i));
    return found == functions.end() ? name(i) : found->second;
  };
  Columns columns = BeginWork(rows);
  columns.Add("name", MakeColumn<std::string>(rows.size(), name));
  columns.Add("function", MakeColumn<std::string>(rows.size(), function));
  AddLaunches(rows, &columns);
  return columns;
}

Columns MakeGraphs(const analysis::ProcessInput& input, const analysis::CudaResult& result,
                   const PathRows& paths) {
  const WorkRows rows = SortWork(result.graphs, input, paths, nullptr);
  Columns columns = BeginWork(rows);
  columns.Add("graph",
              MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].first.number; }));
  AddLaunches(rows, &columns);
  return columns;
}

Columns MakeCopies(const analysis::ProcessInput& input, const analysis::CudaResult& result,
                   const PathRows& paths) {
  const WorkRows rows = SortWork(result.copies, input, paths, nullptr);
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

Columns MakeSets(const analysis::ProcessInput& input, const analysis::CudaResult& result,
                 const PathRows& paths) {
  const WorkRows rows = SortWork(result.sets, input, paths, nullptr);
  Columns columns = BeginWork(rows);
  columns.Add("memory", MakeWords(Memories(), MakeColumn<uint8_t>(rows.size(), [&](size_t i) {
                                    return rows[i].first.number;
                                  })));
  columns.Add("bytes", Numbers(rows, &GpuWorkRow::bytes));
  return columns;
}

}  // namespace rlscope::python
