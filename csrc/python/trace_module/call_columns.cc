#include "python/trace_module/call_columns.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "python/trace_module/stacks.h"

namespace rlscope::python {

using analysis::PathRows;

namespace {

// The columns that calls and waits have in common; `count` is the name of the first.
template <class Rows>
void AddSums(const char* count, const Rows& rows, Columns* columns) {
  std::vector<int64_t> counts, duration_ns, self_ns;
  for (const auto& [key, sum] : rows) {
    counts.push_back(static_cast<int64_t>(sum.count));
    duration_ns.push_back(sum.duration_ns);
    self_ns.push_back(sum.self_ns);
  }
  columns->Add(count, std::move(counts));
  columns->Add("duration_ns", std::move(duration_ns));
  columns->Add("self_ns", std::move(self_ns));
}

// visit(stage, sum) for each stage in which waits of the row ended.
template <class Visit>
void SplitWaits(const analysis::WaitSums::Row& row, const analysis::LoopSpan& loop,
                const analysis::OperationPaths::Node& path, Visit visit) {
  using analysis::LoopStages;
  if (!loop.begun) return visit(LoopStages::kWhole, row.whole);
  const analysis::CallSum before = row.Before(loop.start_ns);
  const analysis::CallSum after = row.After(loop.end_ns);
  const auto give = [&](LoopStages::Stage stage, const analysis::CallSum& sum) {
    if (sum.count > 0) visit(stage, sum);
  };
  give(LoopStages::kStartUp, before);
  give(LoopStages::InLoop(path), row.whole.Without(before).Without(after));
  give(LoopStages::kEnd, after);
}

}  // namespace

Columns MakeNativeCalls(const analysis::ProcessInput& input, const analysis::CallCounts& counts,
                        const PathRows& paths) {
  std::unordered_map<uint32_t, const trace::Name*> names;
  for (const trace::Name& name : input.names) names[name.id] = &name;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, analysis::CallSum> rows;
  for (const analysis::NativeCallRow& row : counts.native_calls().slots()) {
    if (row.key == 0) continue;
    const auto name = names.find(row.function());
    const bool known = name != names.end();
    rows[{known ? name->second->text : "(unknown)", known ? name->second->layer : 0,
          paths.RowOf(row.path())}]
        .Add({row.calls, row.duration_ns, row.self_ns});
  }
  std::vector<std::string> function;
  std::vector<int32_t> layer, operation;
  for (const auto& [key, sum] : rows) {
    function.push_back(std::get<0>(key));
    layer.push_back(static_cast<int32_t>(std::get<1>(key)));
    operation.push_back(static_cast<int32_t>(std::get<2>(key)));
  }
  Columns columns;
  columns.Add("function", std::move(function));
  columns.Add("layer", std::move(layer));
  columns.Add("operation", std::move(operation));
  AddSums("calls", rows, &columns);
  return columns;
}

Columns MakeWaits(const analysis::ProcessInput& input, const analysis::SweepResult& result,
                  const PathRows& paths) {
  std::unordered_map<uint32_t, std::string_view> texts;
  for (const trace::Name& name : input.names) texts[name.id] = name.text;
  std::map<std::tuple<uint8_t, uint32_t, std::string_view, uint32_t>, analysis::CallSum> rows;
  const analysis::LoopSpan loop = result.process.stages().span();
  for (const auto& [key, row] : result.counts.waits().rows()) {
    const auto [thread, function, path] = key;
    const std::string_view text = texts[function];
    SplitWaits(row, loop, result.paths.node(path),
               [&, thread = thread, path = path](uint8_t stage, const analysis::CallSum& sum) {
                 rows[{stage, thread, text, paths.RowOf(path)}].Add(sum);
               });
  }
  std::vector<uint8_t> stage;
  std::vector<int32_t> thread, operation;
  std::vector<std::string> wait;
  for (const auto& [key, sum] : rows) {
    stage.push_back(std::get<0>(key));
    thread.push_back(static_cast<int32_t>(std::get<1>(key)));
    wait.emplace_back(std::get<2>(key));
    operation.push_back(static_cast<int32_t>(std::get<3>(key)));
  }
  Columns columns;
  columns.Add("stage", Words{StageWords(), std::move(stage)});
  columns.Add("thread", std::move(thread));
  columns.Add("wait", std::move(wait));
  columns.Add("operation", std::move(operation));
  AddSums("count", rows, &columns);
  return columns;
}

}  // namespace rlscope::python
