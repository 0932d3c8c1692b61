#include "python/trace_module/kinds.h"

#include "analysis/gpu/gpu_kinds.h"
#include "analysis/keys/loop_names.h"
#include "analysis/threads/record_kinds.h"
#include "python/trace_module/events.h"
#include "trace/layout/layer.h"

namespace nb = nanobind;

namespace rlscope::python {
namespace {

using analysis::GpuColumn;
using analysis::GpuKindRow;
using analysis::GpuValue;

template <class Texts>
nb::tuple MakeTuple(const Texts& texts) {
  nb::list all;
  for (const auto& text : texts) all.append(text);
  return nb::tuple(all);
}

template <class Texts>
nb::tuple MakeTexts(const Texts& texts) {
  nb::list all;
  for (const std::string_view text : texts) all.append(nb::str(text.data(), text.size()));
  return nb::tuple(all);
}

template <size_t kMost>
nb::tuple MakeColumns(const GpuColumn (&columns)[kMost]) {
  nb::list all;
  for (const GpuColumn& column : columns) {
    if (column.value == GpuValue::kNone) continue;
    nb::dict facts;
    facts["name"] = column.name;
    facts["comment"] = column.comment;
    facts["is_text"] = IsText(column.value);
    all.append(facts);
  }
  return nb::tuple(all);
}

nb::dict MakeGpuKind(const GpuKindRow& kind) {
  nb::dict facts;
  facts["name"] = kind.name;
  facts["is_work"] = kind.role == analysis::GpuRole::kWork;
  if (kind.role != analysis::GpuRole::kWork) return facts;
  facts["comment"] = kind.comment;
  facts["absent"] = kind.absent;
  facts["keys"] = MakeColumns(kind.keys);
  facts["sums"] = MakeColumns(kind.sums);
  return facts;
}

}  // namespace

void AddKinds(nb::module_& module) {
  nb::list gpu_kinds;
  for (const GpuKindRow& kind : analysis::kGpuKinds) gpu_kinds.append(MakeGpuKind(kind));
  module.attr("LAYERS") = MakeTuple(trace::kLayerNames);
  module.attr("GPU_KINDS") = nb::tuple(gpu_kinds);
  nb::list events;
  for (const std::string& kind : EventKinds()) events.append(kind.c_str());
  module.attr("EVENT_KINDS") = nb::tuple(events);
  module.attr("RECORD_KINDS") = MakeTexts(analysis::kRecordKindTexts);
  module.attr("LEARNING_NAMES") = MakeTexts(analysis::kLearningNames);
}

}  // namespace rlscope::python
