#include "python/trace_module/iteration_times.h"

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/keys/layer_ranks.h"
#include "trace/layout/layer.h"

namespace rlscope::python {
namespace {

// What the rows are made of, for readers that may outlive the sweep.
struct IterationTimes {
  explicit IterationTimes(analysis::SweepResult* result)
      : rows(result->process.TakeIterations()), iterations(result->history.TakeIterations()) {
    std::vector<std::string> texts;
    for (uint32_t path = 0; path < result->paths.size(); ++path) {
      texts.push_back(result->paths.Text(path));
      automatic.push_back(result->paths.node(path).automatic);
    }
    paths = std::make_shared<const Dictionary>(texts);
  }

  const analysis::SpillVector<analysis::PartRow> rows;
  const analysis::SpillVector<analysis::IterationRow> iterations;
  std::shared_ptr<const Dictionary> paths;
  std::vector<bool> automatic;  // by path
};

Fields IterationTimeFields(const IterationTimes& times) {
  const auto sources =
      std::make_shared<const Dictionary>(std::vector<std::string>{"explicit", "automatic"});
  const auto layers = std::make_shared<const Dictionary>(
      std::vector<std::string>{std::begin(trace::kLayerNames), std::end(trace::kLayerNames)});
  return {{"iteration", nullptr},     {"iteration_source", sources}, {"complete", nullptr},
          {"operation", times.paths}, {"source", sources},           {"layer", layers},
          {"gpu_busy", nullptr},      {"duration_ns", nullptr}};
}

// In the order of IterationTimeFields.
void WriteRow(const IterationTimes& times, const analysis::PartRow& row, RowWriter* writer) {
  if (row.part == analysis::ProcessView::kNoIteration) {
    for (int i = 0; i < 3; ++i) writer->Null();
  } else {
    const analysis::IterationRow& iteration = times.iterations[static_cast<size_t>(row.part)];
    writer->Number(row.part);
    writer->Word(iteration.automatic);
    writer->Number(iteration.complete);
  }
  const uint32_t path = analysis::PathOfRow(row.row);
  writer->Word(path);
  analysis::IsOperation(path) ? writer->Word(times.automatic[path]) : writer->Null();
  writer->Word(analysis::LayerOfRank(analysis::LayerOfRow(row.row)));
  writer->Number(analysis::IsBusyRow(row.row));
  writer->Number(row.duration_ns);
  writer->EndRow();
}

}  // namespace

RowStream StreamIterationTimes(analysis::SweepResult* result) {
  const auto times = std::make_shared<const IterationTimes>(result);
  return RowStream([times] {
    return RowSource{IterationTimeFields(*times), [times](RowWriter* writer) {
                       for (const analysis::PartRow& row : times->rows) {
                         WriteRow(*times, row, writer);
                       }
                     }};
  });
}

}  // namespace rlscope::python
