// Records of processes.log for Python, checked against their checksums.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_PROCESS_LOG_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_PROCESS_LOG_H_

#include <Python.h>

namespace rlscope::python {

// process_records(bytes) -> (list of records, bytes that need no second look).
PyObject* ProcessRecords(PyObject* module, PyObject* bytes);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_PROCESS_LOG_H_
