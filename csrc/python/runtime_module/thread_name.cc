#include "python/runtime_module/thread_name.h"

#include "python/runtime_module/name_text.h"
#include "runtime/rlscope.h"

namespace rlscope::python {

namespace {

// The thread's entry of threading._active; new reference or null. threading.current_thread()
// would invent an entry for a thread it does not know.
PyObject* FindThread(PyObject* threading) {
  PyObject* active = PyObject_GetAttrString(threading, "_active");
  PyObject* identity = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
  PyObject* thread = nullptr;
  if (active != nullptr && identity != nullptr && PyDict_Check(active)) {
    thread = PyDict_GetItemWithError(active, identity);
    Py_XINCREF(thread);
  }
  Py_XDECREF(identity);
  Py_XDECREF(active);
  return thread;
}

// Thread.name is Python code: a pending Ctrl-C would be raised in it, and lost here. The attribute
// _name runs no Python.
void SendName(PyObject* thread) {
  PyObject* attribute = PyUnicode_InternFromString("_name");
  if (attribute == nullptr) return;
  PyObject* name = PyObject_GenericGetAttr(thread, attribute);
  Py_DECREF(attribute);
  if (name != nullptr && PyUnicode_Check(name)) {
    const NameText text(name);
    rlscope_set_thread_name(text.data(), text.size());
  }
  Py_XDECREF(name);
}

}  // namespace

void NameThread() {
  PyObject* threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  if (threading == nullptr) return;
  Py_INCREF(threading);
  PyObject* thread = FindThread(threading);
  if (thread != nullptr) SendName(thread);
  Py_XDECREF(thread);
  Py_DECREF(threading);
  PyErr_Clear();
}

}  // namespace rlscope::python
