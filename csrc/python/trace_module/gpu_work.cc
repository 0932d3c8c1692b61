#include "python/trace_module/gpu_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "python/trace_module/function_names.h"

namespace rlscope::python {
namespace {

using analysis::GpuColumn;
using analysis::GpuKindRow;
using analysis::GpuValue;
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

template <class OfNumber>
Words MakeWords(const std::vector<std::string>& words, const WorkRows& rows, OfNumber of_number) {
  return {words, MakeColumn<uint8_t>(rows.size(), [&](size_t i) {
            const uint32_t index = of_number(rows[i].first.number);
            return static_cast<uint8_t>(index < words.size() ? index : 0);
          })};
}

std::vector<std::string> MakeNames(const WorkRows& rows) {
  return MakeColumn<std::string>(rows.size(), [&](size_t i) { return rows[i].first.name; });
}

std::vector<std::string> MakeFunctions(const WorkRows& rows) {
  // Rows of one name are many: one for each stream and operation.
  std::set<std::string> distinct;
  for (const auto& row : rows) distinct.insert(row.first.name);
  const std::unordered_map<std::string, std::string> functions = Demangle(distinct);
  return MakeColumn<std::string>(rows.size(), [&](size_t i) {
    const auto found = functions.find(rows[i].first.name);
    return found == functions.end() ? rows[i].first.name : found->second;
  });
}

void AddColumn(const GpuColumn& column, const WorkRows& rows, Columns* columns) {
  const char* const name = column.name;
  switch (column.value) {
    case GpuValue::kNone:
      return;
    case GpuValue::kName:
      return columns->Add(name, MakeNames(rows));
    case GpuValue::kFunction:
      return columns->Add(name, MakeFunctions(rows));
    case GpuValue::kGraph:
      return columns->Add(
          name, MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].first.number; }));
    case GpuValue::kCopyDirection:
      return columns->Add(name,
                          MakeWords(Directions(), rows, [](uint32_t how) { return how & 15; }));
    case GpuValue::kCopyMemory:
      return columns->Add(name, MakeWords(Memories(), rows, [](uint32_t how) { return how >> 4; }));
    case GpuValue::kMemory:
      return columns->Add(name, MakeWords(Memories(), rows, [](uint32_t how) { return how; }));
    case GpuValue::kBytes:
      return columns->Add(name, Numbers(rows, &GpuWorkRow::bytes));
    case GpuValue::kDuration:
      return columns->Add(name, Numbers(rows, &GpuWorkRow::duration_ns));
    case GpuValue::kShortest:
      return columns->Add(name, Numbers(rows, &GpuWorkRow::min_ns));
    case GpuValue::kLongest:
      return columns->Add(name, Numbers(rows, &GpuWorkRow::max_ns));
    case GpuValue::kLaunchBound:
      return columns->Add(name, Numbers(rows, &GpuWorkRow::launch_bound));
  }
}

Columns MakeWork(const GpuKindRow& kind, const WorkRows& rows) {
  Columns columns = BeginWork(rows);
  for (const GpuColumn& column : kind.keys) AddColumn(column, rows, &columns);
  for (const GpuColumn& column : kind.sums) AddColumn(column, rows, &columns);
  return columns;
}

}  // namespace

void AddGpuWork(const analysis::ProcessInput& input, const analysis::CudaResult& result,
                const PathRows& paths, const NameTexts& names, Relations* relations) {
  for (size_t i = 0; i < analysis::kGpuKindCount; ++i) {
    const GpuKindRow& kind = analysis::kGpuKinds[i];
    if (kind.role != analysis::GpuRole::kWork) continue;
    const bool has_name = kind.key == analysis::GpuKey::kName;
    const WorkRows rows = SortWork(result.work[i], input, paths, has_name ? &names : nullptr);
    relations->emplace_back(kind.name, MakeWork(kind, rows));
  }
}

}  // namespace rlscope::python
