// The extension module _trace, one file for each of its parts. Contract: rlscope/_trace.pyi.
//
// Text that a program recorded may hold any bytes; what Python gets is UTF-8.
#include <nanobind/nanobind.h>

#include <system_error>

#include "python/trace_module/directory.h"
#include "python/trace_module/error.h"
#include "python/trace_module/export.h"
#include "python/trace_module/import.h"
#include "python/trace_module/kinds.h"
#include "python/trace_module/overlap.h"
#include "python/trace_module/roll_up.h"
#include "python/trace_module/row_stream.h"
#include "python/trace_module/writer.h"
#include "trace/format/frame.h"

namespace nb = nanobind;

namespace {

void ToOsError(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const std::system_error& error) {
    nb::object arguments = nb::make_tuple(error.code().value(), error.what());
    PyErr_SetObject(PyExc_OSError, arguments.ptr());
  }
}

}  // namespace

NB_MODULE(_trace, module) {
  module.doc() = "Offline half of the C++ core: open trace files, sweep them, write them.";
  module.attr("FORMAT_VERSION") = static_cast<int>(rlscope::trace::kFormatVersion);
  rlscope::python::AddKinds(module);
  nb::exception<rlscope::python::TraceError>(module, "TraceError");
  nb::register_exception_translator(ToOsError);
  rlscope::python::AddRowStream(module);
  rlscope::python::AddDirectory(module);
  rlscope::python::AddWriter(module);
  rlscope::python::AddImporters(module);
  rlscope::python::AddExporters(module);
  rlscope::python::AddOverlap(module);
  rlscope::python::AddRollUp(module);
}
