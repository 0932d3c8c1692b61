#include "python/runtime_module/process_log.h"

#include "trace/layout/process_record.h"

namespace rlscope::python {
namespace {

bool Append(PyObject* list, const trace::ProcessRecord& record) {
  PyObject* bytes = PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&record),
                                              static_cast<Py_ssize_t>(sizeof record));
  const bool appended = bytes != nullptr && PyList_Append(list, bytes) == 0;
  Py_XDECREF(bytes);
  return appended;
}

}  // namespace

PyObject* ProcessRecords(PyObject*, PyObject* bytes) {
  if (!PyBytes_Check(bytes)) {
    PyErr_SetString(PyExc_TypeError, "process_records takes bytes");
    return nullptr;
  }
  const auto* data = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes));
  const auto size = static_cast<size_t>(PyBytes_GET_SIZE(bytes));
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  size_t end = 0;  // of the last record
  trace::ProcessRecord record;
  for (size_t at; (at = trace::FindRecord(data, size, end, &record)) != SIZE_MAX;) {
    end = at + sizeof record;
    if (record.version == trace::kAbiVersion && !Append(list, record)) {
      Py_DECREF(list);
      return nullptr;
    }
  }
  return Py_BuildValue("Nn", list, static_cast<Py_ssize_t>(trace::BytesDone(size, end)));
}

}  // namespace rlscope::python
