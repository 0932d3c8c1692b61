// The parts of the extension module _trace, one file each (rlscope/_trace.pyi).
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_H_

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>

namespace rlscope::python {

// Becomes _trace.TraceError.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Text that a program recorded may hold any bytes; what Python gets is UTF-8.
void AddDirectory(nanobind::module_& module);
void AddWriter(nanobind::module_& module);
void AddImporters(nanobind::module_& module);
void AddExporters(nanobind::module_& module);
void AddOverlap(nanobind::module_& module);
// LAYERS, GPU_KINDS, EVENT_KINDS and RECORD_KINDS.
void AddKinds(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_H_
