#include "python/trace_module/idle.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/keys/layer_ranks.h"
#include "analysis/views/path_rows.h"
#include "python/trace_module/relations.h"
#include "python/trace_module/stacks.h"

namespace rlscope::python {
namespace {

// Stage, row of `operation`, layer, whether the GPU is busy, whether that is known, whether it is a
// sample, reason.
using IdleKey = std::tuple<uint8_t, uint32_t, uint32_t, bool, bool, bool, uint8_t>;

std::map<IdleKey, int64_t> SortedRows(const analysis::IdleResult& result,
                                      const analysis::PathRows& paths) {
  std::map<IdleKey, int64_t> rows;
  for (const analysis::IdleRow& row : result.rows.slots()) {
    if (row.key == 0) continue;
    const uint32_t layer = analysis::LayerOfRank(analysis::LayerOfRow(row.row()));
    rows[{row.stage(), paths.RowOf(analysis::PathOfRow(row.row())), layer,
          analysis::IsBusyRow(row.row()), row.gpu_is_known(), row.is_sample(),
          static_cast<uint8_t>(row.reason())}] += row.duration_ns;
  }
  return rows;
}

}  // namespace

Relations MakeIdleRelations(const analysis::IdleResult& result) {
  const analysis::PathRows paths(result.paths, result.has_gaps);
  std::vector<uint8_t> stage, reason;
  std::vector<int32_t> operation, layer;
  std::vector<Bool> gpu_busy, gpu_is_known, is_sample;
  std::vector<int64_t> duration_ns;
  for (const auto& [key, ns] : SortedRows(result, paths)) {
    stage.push_back(std::get<0>(key));
    operation.push_back(static_cast<int32_t>(std::get<1>(key)));
    layer.push_back(static_cast<int32_t>(std::get<2>(key)));
    gpu_busy.push_back(Bool{std::get<3>(key)});
    gpu_is_known.push_back(Bool{std::get<4>(key)});
    is_sample.push_back(Bool{std::get<5>(key)});
    reason.push_back(std::get<6>(key));
    duration_ns.push_back(ns);
  }
  Columns columns;
  columns.Add("stage", Words{StageWords(), std::move(stage)});
  columns.Add("operation", std::move(operation));
  columns.Add("layer", std::move(layer));
  columns.Add("gpu_busy", std::move(gpu_busy));
  columns.Add("gpu_is_known", std::move(gpu_is_known));
  columns.Add("is_sample", std::move(is_sample));
  columns.Add("reason", Words{analysis::ReasonWords(), std::move(reason)});
  columns.Add("duration_ns", std::move(duration_ns));
  Relations relations;
  relations.emplace_back("operation", MakeOperations(result.paths, paths));
  relations.emplace_back("idle", std::move(columns));
  return relations;
}

}  // namespace rlscope::python
