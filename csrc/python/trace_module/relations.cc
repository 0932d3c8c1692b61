#include "python/trace_module/relations.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/keys/layer_ranks.h"
#include "python/trace_module/call_columns.h"
#include "python/trace_module/stacks.h"
#include "trace/read/stack_tree.h"

namespace rlscope::python {
namespace {

using analysis::PathRows;

// Number of a layer, as everything outside of the sweep knows it.
uint32_t LayerOfRow(uint32_t row) { return analysis::LayerOfRank(analysis::LayerOfRow(row)); }

struct TimeRow {
  uint32_t thread;
  uint8_t stage;
  uint32_t phase;
  uint32_t operation;
  uint32_t layer;
  bool gpu_busy;
  int64_t duration_ns;
  uint64_t count;

  bool operator<(const TimeRow& other) const {
    return std::tie(thread, stage, phase, operation, layer, gpu_busy) <
           std::tie(other.thread, other.stage, other.phase, other.operation, other.layer,
                    other.gpu_busy);
  }
};

// The columns that say of what a row is.
void AddPlaces(const std::vector<TimeRow>& rows, bool by_thread, Columns* columns) {
  const size_t count = rows.size();
  if (by_thread) {
    columns->Add("thread", MakeColumn<int32_t>(count, [&](size_t i) { return rows[i].thread; }));
  } else {
    columns->Add("stage", Words{StageWords(), MakeColumn<uint8_t>(
                                                  count, [&](size_t i) { return rows[i].stage; })});
  }
  columns->Add("phase", MakeColumn<int32_t>(count, [&](size_t i) { return rows[i].phase; }));
  columns->Add("operation",
               MakeColumn<int32_t>(count, [&](size_t i) { return rows[i].operation; }));
  columns->Add("layer", MakeColumn<int32_t>(count, [&](size_t i) { return rows[i].layer; }));
  columns->Add("gpu_busy", MakeColumn<Bool>(count, [&](size_t i) { return rows[i].gpu_busy; }));
}

Columns MakeTimes(std::vector<TimeRow> rows, bool by_thread) {
  std::sort(rows.begin(), rows.end());
  const size_t count = rows.size();
  Columns columns;
  AddPlaces(rows, by_thread, &columns);
  columns.Add("duration_ns",
              MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].duration_ns; }));
  columns.Add("count", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].count; }));
  return columns;
}

Columns MakeBreakdown(const analysis::SweepResult& result, const PathRows& paths) {
  const analysis::ProcessView& view = result.process;
  std::vector<TimeRow> rows;
  for (const analysis::BreakdownRow& row : view.rows().slots()) {
    if (row.key == 0) continue;
    view.stages().Split(
        row, result.paths,
        [&](analysis::LoopStages::Stage stage, int64_t duration_ns, uint64_t count) {
          rows.push_back({0, stage, row.phase(), paths.RowOf(analysis::PathOfRow(row.row())),
                          LayerOfRow(row.row()), analysis::IsBusyRow(row.row()), duration_ns,
                          count});
        });
  }
  return MakeTimes(std::move(rows), /*by_thread=*/false);
}

// Readings by stage, operation, layer and stack; 0: the stack is not known.
Columns MakeStateReadings(const analysis::SweepResult& result, const PathRows& paths,
                          const trace::StackTree& stacks) {
  struct Sum {
    int64_t readings = 0, blocked = 0;
  };
  std::map<std::tuple<uint8_t, uint32_t, uint32_t, uint32_t>, Sum> rows;
  const analysis::LoopSpan loop = result.process.stages().span();
  for (const analysis::StateReading& reading : result.states) {
    const uint32_t path = analysis::PathOfRow(reading.row);
    const uint8_t stage =
        analysis::LoopStages::StageOf(loop, reading.time_ns - 1, result.paths.node(path));
    const uint32_t stack = stacks.Find(reading.stack) != nullptr ? reading.stack : 0;
    Sum* const sum = &rows[{stage, paths.RowOf(path), LayerOfRow(reading.row), stack}];
    ++sum->readings;
    sum->blocked += reading.is_blocked;
  }
  std::vector<uint8_t> stage;
  std::vector<int32_t> operation, layer;
  std::vector<int64_t> stack, readings, blocked;
  for (const auto& [key, sum] : rows) {
    stage.push_back(std::get<0>(key));
    operation.push_back(static_cast<int32_t>(std::get<1>(key)));
    layer.push_back(static_cast<int32_t>(std::get<2>(key)));
    stack.push_back(std::get<3>(key));
    readings.push_back(sum.readings);
    blocked.push_back(sum.blocked);
  }
  Columns columns;
  columns.Add("stage", Words{StageWords(), std::move(stage)});
  columns.Add("operation", std::move(operation));
  columns.Add("layer", std::move(layer));
  columns.Add("stack", std::move(stack));
  columns.Add("readings", std::move(readings));
  columns.Add("blocked", std::move(blocked));
  return columns;
}

Columns MakeLoop(const analysis::LoopSpan& loop) {
  const size_t rows = loop.begun;
  Columns columns;
  columns.Add("start_ns", std::vector<int64_t>(rows, loop.start_ns));
  columns.Add("end_ns", std::vector<int64_t>(rows, loop.end_ns));
  return columns;
}

std::set<uint32_t> StacksOf(const analysis::SweepResult& result) {
  std::set<uint32_t> found;
  for (const analysis::StateReading& reading : result.states) found.insert(reading.stack);
  return found;
}

Columns MakeThreadBreakdown(const analysis::ProcessInput& input, const analysis::ThreadView& view,
                            const PathRows& paths) {
  std::vector<TimeRow> rows;
  view.ForEachRow([&](uint32_t thread, uint32_t phase, uint32_t path, uint32_t layer, bool gpu_busy,
                      int64_t duration_ns, uint64_t count) {
    rows.push_back({input.threads[thread].thread, 0, phase, paths.RowOf(path),
                    analysis::LayerOfRank(layer), gpu_busy, duration_ns, count});
  });
  return MakeTimes(std::move(rows), /*by_thread=*/true);
}

struct RecordRow {
  TimeRow place;  // without times
  uint32_t kind;
  analysis::RecordCounts counts;

  bool operator<(const RecordRow& other) const {
    if (place < other.place || other.place < place) return place < other.place;
    return kind < other.kind;
  }
};

std::vector<std::string> RecordKinds() {
  return {std::begin(analysis::kRecordKindTexts), std::end(analysis::kRecordKindTexts)};
}

// The rows of the process, or of its threads.
Columns MakeBookkeeping(const analysis::ProcessInput& input, const analysis::SweepResult& result,
                        const PathRows& paths, bool by_thread) {
  std::vector<RecordRow> rows;
  const analysis::LoopBeginning& beginning = result.process.stages().beginning();
  const auto add = [&](uint32_t stream, analysis::LoopStages::Stage stage, uint32_t phase,
                       uint32_t row, analysis::RecordKind kind, analysis::RecordCounts counts) {
    if ((stream != analysis::kNobody) != by_thread) return;
    const uint32_t thread =
        by_thread ? input.threads[stream - analysis::kFirstThreadStream].thread : 0;
    rows.push_back({{thread, stage, phase, paths.RowOf(analysis::PathOfRow(row)), LayerOfRow(row),
                     analysis::IsBusyRow(row), 0, 0},
                    static_cast<uint32_t>(kind),
                    counts});
  };
  result.bookkeeping->ForEachRow(beginning, result.paths, add);
  std::sort(rows.begin(), rows.end());
  const size_t count = rows.size();
  std::vector<TimeRow> places;
  for (const RecordRow& row : rows) places.push_back(row.place);
  Columns columns;
  AddPlaces(places, by_thread, &columns);
  columns.Add("kind", Words{RecordKinds(),
                            MakeColumn<uint8_t>(count, [&](size_t i) { return rows[i].kind; })});
  columns.Add("inside",
              MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].counts.inside; }));
  columns.Add("outside",
              MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].counts.outside; }));
  return columns;
}

Columns MakeTimeline(const analysis::SweepResult& result, const PathRows& paths) {
  size_t count = 0;
  for (const auto& rows : result.timeline) count += rows.size();
  std::vector<int32_t> level, operation, layer;
  std::vector<int64_t> start_ns, bucket_ns, duration_ns;
  std::vector<Bool> gpu_busy;
  for (auto* column : {&level, &operation, &layer}) column->reserve(count);
  for (auto* column : {&start_ns, &bucket_ns, &duration_ns}) column->reserve(count);
  gpu_busy.reserve(count);
  analysis::TimeGrid grid = result.grid;
  for (const auto& rows : result.timeline) {
    for (const analysis::PartRow& row : rows) {
      level.push_back(grid.level);
      start_ns.push_back(grid.StartOf(row.part));
      bucket_ns.push_back(grid.bucket_ns);
      operation.push_back(static_cast<int32_t>(paths.RowOf(analysis::PathOfRow(row.row))));
      layer.push_back(static_cast<int32_t>(LayerOfRow(row.row)));
      gpu_busy.push_back(analysis::IsBusyRow(row.row) ? kTrue : kFalse);
      duration_ns.push_back(row.duration_ns);
    }
    grid = {grid.origin_ns, 2 * grid.bucket_ns, grid.level + 1};
  }
  Columns columns;
  columns.Add("level", std::move(level));
  columns.Add("start_ns", std::move(start_ns));
  columns.Add("bucket_ns", std::move(bucket_ns));
  columns.Add("operation", std::move(operation));
  columns.Add("layer", std::move(layer));
  columns.Add("gpu_busy", std::move(gpu_busy));
  columns.Add("duration_ns", std::move(duration_ns));
  return columns;
}

// ---- history ------------------------------------------------------------------------------------

Columns MakeWindows(const std::vector<analysis::Window>& rows) {
  Columns columns;
  columns.Add("start_ns",
              MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].start_ns; }));
  columns.Add("duration_ns", MakeColumn<int64_t>(rows.size(), [&](size_t i) {
                return rows[i].stop_ns - rows[i].start_ns;
              }));
  return columns;
}

Columns MakePhases(const analysis::SpillVector<analysis::PhaseRow>& rows) {
  Columns columns;
  columns.Add("name", MakeColumn<int32_t>(rows.size(), [&](size_t i) { return rows[i].name; }));
  columns.Add("start_ns",
              MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].start_ns; }));
  columns.Add("duration_ns", MakeColumn<int64_t>(rows.size(), [&](size_t i) {
                return rows[i].end_ns - rows[i].start_ns;
              }));
  return columns;
}

Columns MakeIterations(const analysis::SpillVector<analysis::IterationRow>& rows) {
  Columns columns;
  columns.Add("iteration", MakeColumn<int64_t>(rows.size(), [](size_t i) { return i; }));
  columns.Add("start_ns",
              MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].start_ns; }));
  columns.Add("duration_ns", MakeColumn<int64_t>(rows.size(), [&](size_t i) {
                return rows[i].end_ns - rows[i].start_ns;
              }));
  columns.Add("complete",
              MakeColumn<Bool>(rows.size(), [&](size_t i) { return rows[i].complete; }));
  columns.Add("gpu_recorded",
              MakeColumn<Bool>(rows.size(), [&](size_t i) { return rows[i].gpu_recorded; }));
  columns.Add("source",
              Words{{"explicit", "automatic"},
                    MakeColumn<uint8_t>(rows.size(), [&](size_t i) { return rows[i].automatic; })});
  return columns;
}

Columns MakeProgress(const analysis::SpillVector<analysis::ProgressRow>& rows) {
  Columns columns;
  columns.Add("start_ns",
              MakeColumn<int64_t>(rows.size(), [&](size_t i) { return rows[i].start_ns; }));
  columns.Add("done", MakeColumn<double>(rows.size(), [&](size_t i) { return rows[i].done; }));
  columns.Add("total", MakeColumn<double>(rows.size(), [&](size_t i) { return rows[i].total; }));
  return columns;
}

// ---- counts -------------------------------------------------------------------------------------

Columns MakeTransitions(const analysis::CallCounts& counts, analysis::IterationKind counted,
                        const PathRows& paths) {
  std::vector<int32_t> operation, from_layer, to_layer;
  std::vector<int64_t> count, count_in_iterations;
  for (uint32_t path : paths.order()) {
    for (uint32_t from = 0; from < analysis::kLayers; ++from) {
      for (uint32_t to = 0; to < analysis::kLayers; ++to) {
        const uint64_t inside = counts.transitions(path, from, to, counted);
        uint64_t entries = 0;
        for (uint32_t in = 0; in < analysis::kIterationKinds; ++in) {
          entries += counts.transitions(path, from, to, static_cast<analysis::IterationKind>(in));
        }
        if (entries == 0) continue;
        operation.push_back(static_cast<int32_t>(paths.RowOf(path)));
        from_layer.push_back(static_cast<int32_t>(analysis::LayerOfRank(from)));
        to_layer.push_back(static_cast<int32_t>(analysis::LayerOfRank(to)));
        count.push_back(static_cast<int64_t>(entries));
        count_in_iterations.push_back(static_cast<int64_t>(inside));
      }
    }
  }
  Columns columns;
  columns.Add("operation", std::move(operation));
  columns.Add("from_layer", std::move(from_layer));
  columns.Add("to_layer", std::move(to_layer));
  columns.Add("count", std::move(count));
  columns.Add("count_in_iterations", std::move(count_in_iterations));
  return columns;
}

Columns MakeLosses(const analysis::Losses& losses) {
  std::vector<std::string> kind;
  std::vector<int64_t> count;
#define RLSCOPE_ADD_LOSS(member, text)                    \
  if (losses.member > 0) {                                \
    kind.push_back(text);                                 \
    count.push_back(static_cast<int64_t>(losses.member)); \
  }
  RLSCOPE_SWEEP_LOSSES(RLSCOPE_ADD_LOSS)
#undef RLSCOPE_ADD_LOSS
  const size_t rows = kind.size();
  Columns columns;
  columns.Add("kind", std::move(kind));
  columns.Add("count", std::move(count));
  columns.Add("duration_ns", Nulls{rows});
  columns.Add("detail", std::vector<std::string>(rows));
  return columns;
}

}  // namespace

Columns MakeOperations(const analysis::OperationPaths& paths, const PathRows& rows) {
  const std::vector<uint32_t>& order = rows.order();
  const auto node = [&](size_t i) { return paths.node(order[i]); };
  Columns columns;
  columns.Add("parent", MakeColumn<int32_t>(order.size(), [&](size_t i) {
                // A root operation's parent is "(none)" in the tree, and nothing to the outside.
                const bool root = node(i).parent == analysis::kNoPath;
                return root ? -1 : static_cast<int32_t>(rows.RowOf(node(i).parent));
              }));
  columns.Add("name", MakeColumn<std::string>(order.size(),
                                              [&](size_t i) { return paths.name(order[i]); }));
  columns.Add("path", MakeColumn<std::string>(order.size(),
                                              [&](size_t i) { return paths.Text(order[i]); }));
  columns.Add("depth", MakeColumn<int32_t>(order.size(), [&](size_t i) { return node(i).depth; }));
  columns.Add("instances",
              MakeColumn<int64_t>(order.size(), [&](size_t i) { return node(i).instances; }));
  columns.Add("source",
              Words{{"explicit", "automatic"}, MakeColumn<uint8_t>(order.size(), [&](size_t i) {
                      return node(i).automatic;
                    })});
  return columns;
}

Relations MakeRelations(const analysis::ProcessInput& input, const analysis::SweepResult& result,
                        const analysis::SweepOptions& options) {
  const analysis::History& history = result.history;
  const PathRows paths(result.paths, history.has_gaps());
  const trace::StackTree stacks(input.stacks);
  Columns phase_names;
  phase_names.Add("name", history.phase_names());
  Relations relations;
  relations.emplace_back("operation", MakeOperations(result.paths, paths));
  relations.emplace_back("phase_name", std::move(phase_names));
  relations.emplace_back("breakdown", MakeBreakdown(result, paths));
  relations.emplace_back("loop", MakeLoop(result.process.stages().span()));
  relations.emplace_back("state_reading", MakeStateReadings(result, paths, stacks));
  relations.emplace_back("stack", MakeStacks(StacksOf(result), stacks));
  if (options.by_thread) {
    relations.emplace_back("breakdown_by_thread",
                           MakeThreadBreakdown(input, *result.threads, paths));
  }
  if (options.bookkeeping) {
    relations.emplace_back("bookkeeping", MakeBookkeeping(input, result, paths,
                                                          /*by_thread=*/false));
    relations.emplace_back("bookkeeping_by_thread",
                           MakeBookkeeping(input, result, paths, /*by_thread=*/true));
  }
  if (options.buckets > 0) relations.emplace_back("timeline", MakeTimeline(result, paths));
  relations.emplace_back("recording_window", MakeWindows(history.windows()));
  relations.emplace_back("phase", MakePhases(history.phases()));
  relations.emplace_back("iteration", MakeIterations(history.iterations()));
  relations.emplace_back("progress", MakeProgress(history.progress()));
  if (options.counts) {
    relations.emplace_back("transition",
                           MakeTransitions(result.counts, history.counted_kind(), paths));
    relations.emplace_back("native_call", MakeNativeCalls(input, result.counts, paths));
    relations.emplace_back("wait", MakeWaits(input, result, paths));
  }
  relations.emplace_back("loss", MakeLosses(result.losses));
  return relations;
}

}  // namespace rlscope::python
