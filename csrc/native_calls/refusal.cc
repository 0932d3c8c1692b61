#include "native_calls/refusal.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "native_calls/page_access.h"

namespace rlscope::native_calls {
namespace {

// The first release on which patching was never tried: it may lay out its objects anew.
constexpr long kFirstUnknown = 0x030F0000;

// Others that load extension modules of CPython's lay out their objects in their own way.
bool IsCPython() {
  PyObject* implementation = PySys_GetObject("implementation");  // borrowed
  if (implementation == nullptr) return false;
  PyObject* name = PyObject_GetAttrString(implementation, "name");
  const char* text = name != nullptr && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  const bool is_cpython = text != nullptr && strcmp(text, "cpython") == 0;
  Py_XDECREF(name);
  PyErr_Clear();
  return is_cpython;
}

bool IsKnownRelease() {
#ifdef Py_GIL_DISABLED
  return false;
#else
  PyObject* version = PySys_GetObject("hexversion");  // borrowed
  return version != nullptr && PyLong_Check(version) && PyLong_AsLong(version) < kFirstUnknown;
#endif
}

}  // namespace

const char* Refusal() {
  if (!IsCPython()) return "rlscope patches native functions only in CPython";
  if (!IsKnownRelease()) {
    return "rlscope patches native functions only in CPython 3.10 to 3.14 with a GIL";
  }
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    return "rlscope does not patch native functions from a sub-interpreter";
  }
  static const bool can_open_pages = CanOpenPages();
  if (!can_open_pages) return "the kernel does not let rlscope make read-only pages writable";
  return nullptr;
}

}  // namespace rlscope::native_calls
