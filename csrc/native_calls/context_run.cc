#include "native_calls/context_run.h"

#include "native_calls/patch.h"

namespace rlscope::native_calls {
namespace {

using RunFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

RunFunction original = nullptr;
ContextHooks hooks = {nullptr, nullptr};

// Around the interpreter's own function, which enters and leaves the Context: what happens between
// the hook and that takes no time worth telling apart.
PyObject* Run(PyObject* context, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    return original(context, arguments, count, keywords);
  }
  hooks.entering(context);
  PyObject* result = original(context, arguments, count, keywords);
  hooks.left();
  return result;
}

PyMethodDef* FindRun() {
  PyObject* run = PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyContext_Type), "run");
  if (run == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  // The type keeps the method.
  Py_DECREF(run);
  if (Py_TYPE(run) != &PyMethodDescr_Type) return nullptr;
  PyMethodDef* definition = reinterpret_cast<PyMethodDescrObject*>(run)->d_method;
  return definition->ml_flags == (METH_FASTCALL | METH_KEYWORDS) ? definition : nullptr;
}

}  // namespace

bool FollowContexts(const ContextHooks& context_hooks) {
  PyMethodDef* definition = FindRun();
  if (definition == nullptr) return false;
  hooks = context_hooks;
  auto** location = reinterpret_cast<void**>(&definition->ml_meth);
  void* replacement = reinterpret_cast<void*>(&Run);
  if (*location == replacement) return true;
  original = reinterpret_cast<RunFunction>(*location);
  return ReplacePointer(location, replacement, nullptr) != Patched::kRefused;
}

}  // namespace rlscope::native_calls
