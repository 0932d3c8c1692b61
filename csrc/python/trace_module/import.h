// _trace.ImportedRows, and the scans that fill some: traces of other tools, read and written as
// trace files.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_IMPORT_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_IMPORT_H_

#include <nanobind/nanobind.h>

namespace rlscope::python {

void AddImporters(nanobind::module_& module);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_IMPORT_H_
