// _trace.roll_up: csrc/analysis/sweep/roll_up.h for all processes of a directory.
#include "python/trace_module/roll_up.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/sweep/roll_up.h"
#include "analysis/sweep/trace_source.h"
#include "python/trace_module/error.h"
#include "trace/directory/directory.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlscope::python {
namespace {

void Check(const base::Status& status) {
  if (!status.ok()) throw TraceError(status.message());
}

// What lies in rings is not in files yet; a folder without any is as good as none.
std::unique_ptr<trace::Directory> OpenFiles(const std::string& path) {
  std::unique_ptr<trace::Directory> directory;
  Check(trace::Directory::Open(path, path + "/trace", &directory));
  return directory;
}

int64_t FirstStart(const trace::Directory& directory) {
  int64_t first_ns = analysis::kLatestNs;
  for (const trace::ProcessImage& image : directory.processes()) {
    first_ns = std::min(first_ns, analysis::FindRange(image).start_ns);
  }
  return first_ns;
}

struct Outcome {
  analysis::RolledUpBytes bytes;
  int64_t origin_ns = 0;
  size_t kept_whole = 0;  // processes
};

Outcome RollUp(const std::string& path, const std::optional<int64_t>& origin_ns,
               analysis::RollUpOptions options) {
  const std::unique_ptr<trace::Directory> directory = OpenFiles(path);
  Outcome outcome;
  outcome.origin_ns = origin_ns ? *origin_ns : FirstStart(*directory);
  options.sweep.grid = {outcome.origin_ns, options.until_ns};
  for (const trace::ProcessImage& image : directory->processes()) {
    outcome.kept_whole += *analysis::WhyNotRolledUp(image) != '\0' && image.trace != nullptr;
    Check(analysis::RollUp(image, path + "/trace", options, &outcome.bytes));
  }
  return outcome;
}

}  // namespace

void AddRollUp(nb::module_& module) {
  module.def(
      "roll_up",
      [](const std::string& path, int64_t until_ns, const std::optional<int64_t>& origin_ns,
         int64_t least_saved, uint32_t buckets, uint32_t most_paths) {
        analysis::RollUpOptions options;
        options.until_ns = until_ns;
        options.sweep.buckets = buckets;
        options.most_paths = most_paths;
        options.least_saved = least_saved;
        Outcome outcome;
        {
          nb::gil_scoped_release release;
          outcome = RollUp(path, origin_ns, options);
        }
        nb::dict result;
        result["removed"] = outcome.bytes.removed;
        result["written"] = outcome.bytes.written;
        result["origin_ns"] = outcome.origin_ns;
        result["kept_whole"] = outcome.kept_whole;
        return result;
      },
      "path"_a, "until_ns"_a, nb::kw_only(), "origin_ns"_a = nb::none(), "least_saved"_a = 0,
      "buckets"_a = 2000, "most_paths"_a = analysis::kMaxPaths);
}

}  // namespace rlscope::python
