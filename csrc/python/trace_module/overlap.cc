#include "python/trace_module/overlap.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "analysis/views/overlap.h"
#include "python/trace_module/columns.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

std::vector<analysis::Interval> ToIntervals(const Pairs& pairs) {
  std::vector<analysis::Interval> intervals;
  for (const auto& [start_ns, end_ns] : pairs) intervals.push_back({start_ns, end_ns});
  return intervals;
}

nb::dict Overlap(const nb::object& streams) {
  nb::list names;
  std::vector<std::vector<analysis::Interval>> intervals;
  for (nb::handle item : streams.attr("items")()) {
    names.append(item[0]);
    intervals.push_back(ToIntervals(nb::cast<Pairs>(item[1])));
  }
  std::vector<analysis::OverlapRow> rows;
  {
    nb::gil_scoped_release release;
    rows = analysis::FindOverlap(std::move(intervals));
  }
  nb::list sets;
  for (const analysis::OverlapRow& row : rows) {
    nb::list set;
    for (uint32_t stream : row.streams) set.append(names[stream]);
    sets.append(nb::tuple(set));
  }
  const size_t count = rows.size();
  Columns columns;
  columns.Add("duration_ns",
              MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].duration_ns; }));
  columns.Add("start_ns", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].start_ns; }));
  columns.Add("end_ns", MakeColumn<int64_t>(count, [&](size_t i) { return rows[i].end_ns; }));
  nb::dict result = columns.TakeDict();
  result["set"] = sets;
  return result;
}

}  // namespace

void AddOverlap(nb::module_& module) { module.def("overlap", &Overlap, "streams"_a); }

}  // namespace rlscope::python
