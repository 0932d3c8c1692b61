#include "native_calls/greenlet_switch.h"

#include "native_calls/owned.h"
#include "native_calls/patch.h"

namespace rlscope::native_calls {
namespace {

// Places in the table of greenlet's C interface, the same from 2.0 on (greenlet.h).
constexpr int kType = 0;
constexpr int kGetCurrent = 4;
constexpr int kThrow = 5;
constexpr int kSwitch = 6;
constexpr int kIsMain = 8;
constexpr char kInterface[] = "greenlet._C_API";

using Current = PyObject* (*)();
using IsMain = int (*)(PyObject*);
using SwitchMethod = PyObject* (*)(PyObject*, PyObject*, PyObject*);
using ThrowMethod = PyObject* (*)(PyObject*, PyObject*);
using SwitchFunction = PyObject* (*)(PyObject*, PyObject*, PyObject*);
using ThrowFunction = PyObject* (*)(PyObject*, PyObject*, PyObject*, PyObject*);

Current current_greenlet = nullptr;
IsMain is_main = nullptr;
SwitchMethod switch_method = nullptr;
ThrowMethod throw_method = nullptr;
SwitchFunction switch_function = nullptr;
ThrowFunction throw_function = nullptr;
GreenletHooks greenlet_hooks = {nullptr, nullptr};

// Around the package's own function. It returns when the greenlet that called it runs again; what
// is on its stack meanwhile is kept with the stack.
template <class... Arguments>
PyObject* Around(PyObject* (*original)(PyObject*, Arguments...), PyObject* greenlet,
                 Arguments... arguments) {
  greenlet_hooks.entering(greenlet);
  PyObject* result = original(greenlet, arguments...);
  greenlet_hooks.left();
  return result;
}

PyObject* SwitchByMethod(PyObject* greenlet, PyObject* arguments, PyObject* keywords) {
  return Around(switch_method, greenlet, arguments, keywords);
}
PyObject* ThrowByMethod(PyObject* greenlet, PyObject* arguments) {
  return Around(throw_method, greenlet, arguments);
}
PyObject* SwitchByFunction(PyObject* greenlet, PyObject* arguments, PyObject* keywords) {
  return Around(switch_function, greenlet, arguments, keywords);
}
PyObject* ThrowByFunction(PyObject* greenlet, PyObject* type, PyObject* value, PyObject* trace) {
  return Around(throw_function, greenlet, type, value, trace);
}

void** FindInterface(PyObject* module) {
  const Owned capsule(PyObject_GetAttrString(module, "_C_API"));
  if (!capsule || !PyCapsule_IsValid(capsule.get(), kInterface)) return nullptr;
  return static_cast<void**>(PyCapsule_GetPointer(capsule.get(), kInterface));
}

PyMethodDef* FindMethod(void* const* interface, const char* name) {
  const Owned method(PyObject_GetAttrString(static_cast<PyObject*>(interface[kType]), name));
  // The type keeps the method.
  if (!method || Py_TYPE(method.get()) != &PyMethodDescr_Type) return nullptr;
  return reinterpret_cast<PyMethodDescrObject*>(method.get())->d_method;
}

template <class Function>
bool Replace(void** location, Function replacement, Function* original) {
  void* ours = reinterpret_cast<void*>(replacement);
  if (*location == ours) return true;
  *original = reinterpret_cast<Function>(*location);
  return ReplacePointer(location, ours, nullptr) != Patched::kRefused;
}

bool ReplaceMethods(void* const* interface) {
  PyMethodDef* switching = FindMethod(interface, "switch");
  PyMethodDef* throwing = FindMethod(interface, "throw");
  if (switching == nullptr || throwing == nullptr) return false;
  if (switching->ml_flags != (METH_VARARGS | METH_KEYWORDS)) return false;
  if (throwing->ml_flags != METH_VARARGS) return false;
  return Replace(reinterpret_cast<void**>(&switching->ml_meth), &SwitchByMethod, &switch_method) &&
         Replace(reinterpret_cast<void**>(&throwing->ml_meth), &ThrowByMethod, &throw_method);
}

}  // namespace

PyObject* CurrentGreenlet() {
  if (current_greenlet == nullptr) return nullptr;
  PyObject* greenlet = current_greenlet();
  if (greenlet == nullptr) return nullptr;
  Py_DECREF(greenlet);  // it runs, so it lives
  return is_main(greenlet) != 0 ? nullptr : greenlet;
}

bool FollowGreenlets(PyObject* module, const GreenletHooks& hooks) {
  const ErrorAside aside;
  void** interface = FindInterface(module);
  if (interface == nullptr) return false;
  greenlet_hooks = hooks;
  is_main = reinterpret_cast<IsMain>(interface[kIsMain]);
  current_greenlet = reinterpret_cast<Current>(interface[kGetCurrent]);
  return ReplaceMethods(interface) &&
         Replace(&interface[kSwitch], &SwitchByFunction, &switch_function) &&
         Replace(&interface[kThrow], &ThrowByFunction, &throw_function);
}

}  // namespace rlscope::native_calls
