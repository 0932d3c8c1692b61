#include "python/trace_module/export.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "exporters/lanes.h"
#include "exporters/perfetto.h"
#include "python/trace_module/columns.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

using exporters::Lanes;
using exporters::PerfettoEncoder;
using exporters::Slice;

using Int64Column = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoubleColumn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Lanes of one track after the other.
class TrackLanes {
 public:
  std::vector<int64_t> Add(const Int64Column& tracks, const Int64Column& starts_ns,
                           const Int64Column& ends_ns) {
    const auto nothing = [](size_t, int64_t) {};
    std::vector<int64_t> lanes;
    lanes.reserve(tracks.shape(0));
    for (size_t i = 0; i < tracks.shape(0); ++i) {
      if (tracks(i) != track_) lanes_.Finish(nothing);
      track_ = tracks(i);
      lanes.push_back(static_cast<int64_t>(lanes_.Add(starts_ns(i), ends_ns(i), nothing)));
    }
    return lanes;
  }

 private:
  Lanes lanes_;
  int64_t track_ = -1;
};

void CheckSameLength(size_t wanted, std::initializer_list<const Int64Column*> columns) {
  for (const Int64Column* column : columns) {
    if (column->shape(0) != wanted) throw std::invalid_argument("columns differ in length");
  }
}

nb::object AddLanes(TrackLanes* lanes, const Int64Column& tracks, const Int64Column& starts_ns,
                    const Int64Column& ends_ns) {
  CheckSameLength(tracks.shape(0), {&starts_ns, &ends_ns});
  std::vector<int64_t> found;
  {
    const nb::gil_scoped_release release;
    found = lanes->Add(tracks, starts_ns, ends_ns);
  }
  Columns columns;
  columns.Add("lane", std::move(found));
  return columns.TakeDict()["lane"];
}

void AddSlices(PerfettoEncoder* encoder, const Int64Column& tracks, const Int64Column& starts_ns,
               const Int64Column& ends_ns, const Int64Column& categories, const Int64Column& names,
               const Int64Column& flows, const Int64Column& operations,
               const Int64Column& correlations, const Int64Column& bytes, const Int64Column& graphs,
               const Int64Column& whole_starts_ns, const Int64Column& whole_ends_ns) {
  CheckSameLength(tracks.shape(0),
                  {&starts_ns, &ends_ns, &categories, &names, &flows, &operations, &correlations,
                   &bytes, &graphs, &whole_starts_ns, &whole_ends_ns});
  const nb::gil_scoped_release release;
  for (size_t i = 0; i < tracks.shape(0); ++i) {
    encoder->Add({static_cast<uint64_t>(tracks(i)), starts_ns(i), ends_ns(i),
                  static_cast<size_t>(categories(i)), static_cast<size_t>(names(i)),
                  static_cast<uint64_t>(flows(i)), operations(i), correlations(i), bytes(i),
                  graphs(i), whole_starts_ns(i), whole_ends_ns(i)});
  }
}

void AddReadings(PerfettoEncoder* encoder, uint64_t counter, const Int64Column& times_ns,
                 const DoubleColumn& values) {
  if (times_ns.shape(0) != values.shape(0)) throw std::invalid_argument("columns differ in length");
  const nb::gil_scoped_release release;
  encoder->BeginCounter(counter);
  for (size_t i = 0; i < times_ns.shape(0); ++i) encoder->AddReading(times_ns(i), values(i));
}

nb::bytes TakeBytes(PerfettoEncoder* encoder) {
  const std::string taken = encoder->Take();
  return nb::bytes(taken.data(), taken.size());
}

}  // namespace

void AddExporters(nb::module_& module) {
  nb::class_<TrackLanes>(module, "Lanes")
      .def(nb::init<>())
      .def("add", &AddLanes, "tracks"_a, "starts_ns"_a, "ends_ns"_a);
  nb::class_<PerfettoEncoder>(module, "PerfettoEncoder")
      .def(
          "__init__",
          [](PerfettoEncoder* self, int64_t origin_ns, std::vector<std::string> categories,
             std::vector<std::string> names, std::vector<std::string> operations) {
            new (self) PerfettoEncoder(
                origin_ns, {std::move(categories), std::move(names), std::move(operations)});
          },
          "origin_ns"_a, nb::kw_only(), "categories"_a, "names"_a, "operations"_a)
      .def("process", &PerfettoEncoder::AddProcess, "pid"_a, "name"_a, "label"_a, "start_ns"_a)
      .def("thread", &PerfettoEncoder::AddThread, "pid"_a, "tid"_a, "name"_a)
      .def("track", &PerfettoEncoder::AddTrack, "parent"_a, "name"_a, "rank"_a)
      .def("counter", &PerfettoEncoder::AddCounter, "parent"_a, "name"_a, "unit"_a)
      .def("slices", &AddSlices, "tracks"_a, nb::kw_only(), "starts_ns"_a, "ends_ns"_a,
           "categories"_a, "names"_a, "flows"_a, "operations"_a, "correlations"_a, "bytes"_a,
           "graphs"_a, "whole_starts_ns"_a, "whole_ends_ns"_a)
      .def("readings", &AddReadings, "counter"_a, "times_ns"_a, "values"_a)
      .def("finish", &PerfettoEncoder::Finish)
      .def("take", &TakeBytes);
}

}  // namespace rlscope::python
