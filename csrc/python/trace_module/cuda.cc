#include "python/trace_module/cuda.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/views/path_rows.h"
#include "python/trace_module/gpu_work.h"
#include "python/trace_module/relations.h"
#include "python/trace_module/stacks.h"

namespace rlscope::python {
namespace {

using analysis::CudaResult;
using analysis::PathRows;

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

// By stack, 0: it is not known; none if none is. `found` gets the stacks.
Columns MakeCallSites(const CudaResult& result, const PathRows& paths,
                      const trace::StackTree& stacks, std::set<uint32_t>* found) {
  std::map<std::tuple<uint32_t, uint8_t, int32_t>, std::pair<int64_t, int64_t>> rows;
  for (const analysis::SiteRow& row : result.sites.slots()) {
    if (row.key == 0 || !result.has_sites) continue;
    const uint32_t stack = stacks.Find(row.site()) != nullptr ? row.site() : 0;
    auto& [calls, gpu_ns] = rows[{stack, row.stage(), OperationOf(paths, row.path())}];
    calls += static_cast<int64_t>(row.calls);
    gpu_ns += row.gpu_ns;
  }
  std::vector<int64_t> stack, calls, gpu_ns;
  std::vector<uint8_t> stage;
  std::vector<int32_t> operation;
  for (const auto& [key, sums] : rows) {
    found->insert(std::get<0>(key));
    stack.push_back(std::get<0>(key));
    stage.push_back(std::get<1>(key));
    operation.push_back(std::get<2>(key));
    calls.push_back(sums.first);
    gpu_ns.push_back(sums.second);
  }
  Columns columns;
  columns.Add("stack", std::move(stack));
  columns.Add("stage", Words{StageWords(), std::move(stage)});
  columns.Add("operation", std::move(operation));
  columns.Add("calls", std::move(calls));
  columns.Add("gpu_ns", std::move(gpu_ns));
  return columns;
}

Columns MakeIterationWork(const CudaResult& result) {
  std::vector<analysis::IterationWorkRow> rows;
  for (const analysis::IterationWorkRow& row : result.iterations.slots()) {
    if (row.key != 0) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  const size_t count = rows.size();
  Columns columns;
  columns.Add("iteration", MakeColumn<int64_t>(count, [&](size_t i) {
                return static_cast<int64_t>(rows[i].key - 1);
              }));
  columns.Add("kernels", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].kernels; }));
  columns.Add("busy_ns", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].busy_ns; }));
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
  Relations relations;
  relations.emplace_back("operation", MakeOperations(result.paths, paths));
  relations.emplace_back("api_call", MakeApiCalls(result, paths, names));
  AddGpuWork(input, result, paths, names, &relations);
  relations.emplace_back("sync", MakeSyncs(result, paths));
  relations.emplace_back("gpu_time", MakeGpuTimes(result, paths));
  relations.emplace_back("iteration_work", MakeIterationWork(result));
  const trace::StackTree stacks(input.stacks);
  std::set<uint32_t> found;
  relations.emplace_back("call_site", MakeCallSites(result, paths, stacks, &found));
  relations.emplace_back("stack", MakeStacks(found, stacks));
  relations.emplace_back("loss", MakeCudaLosses(result));
  return relations;
}

}  // namespace rlscope::python
