// intercept_watch, intercept_scan, intercept_wait, intercept_unpatch, intercept_counts,
// intercept_supported, callback_begin, callback_end: the engine that patches native calls, as
// Python sees it. Contract: rlscope/_runtime.pyi.
#include "python/runtime_module/native_calls.h"

#include <stdint.h>
#include <string.h>

#include "native_calls/call.h"
#include "native_calls/context_run.h"
#include "native_calls/created_functions.h"
#include "native_calls/gil_waits.h"
#include "native_calls/greenlet_switch.h"
#include "native_calls/late_imports.h"
#include "native_calls/owned.h"
#include "native_calls/patch.h"
#include "native_calls/pointers.h"
#include "native_calls/probe_stub.h"
#include "native_calls/refusal.h"
#include "native_calls/scanner.h"
#include "native_calls/waits.h"
#include "native_calls/watched_code.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/module_state.h"
#include "python/runtime_module/name_text.h"
#include "python/runtime_module/phase.h"
#include "python/runtime_module/thread_name.h"
#include "runtime/hot.h"
#include "trace/layout/layer.h"

namespace rlscope::python {

namespace {

using native_calls::ErrorAside;

// The main interpreter's module: what patched functions record belongs to its phase and its tasks.
// A reference is kept for good, for threads may call them until the process is gone.
PyObject* main_module = nullptr;

// Functions of intercept_at_import; owned, null while it is not in force.
PyObject* loaded_function = nullptr;
PyObject* scanned_function = nullptr;
PyObject* executed_function = nullptr;
PyObject* executed_names = nullptr;  // a set of str: the modules that it wants to hear of

// ---- what the engine reports ------------------------------------------------------------------

void OnWindow() {
  const ErrorAside aside;
  RecordPhase(StateOf(main_module));
}

void OnThread() {
  const ErrorAside aside;
  NameThread();
}

__attribute__((noinline)) void Switch(PyObject* context) {
  const ErrorAside aside;
  const uint32_t thread = rlscope_self.thread;
  if (!IsRecordingInPhase(StateOf(main_module))) return;
  SwitchTask(StateOf(main_module)->tasks, context);
  if (rlscope_self.thread != thread) NameThread();
}

void OnContextEntering(PyObject* context) {
  if (!runtime::IsIdleOrTimed()) Switch(context);
}
void OnContextLeft() {
  if (!runtime::IsIdleOrTimed()) Switch(nullptr);
}

__attribute__((noinline)) void EnterGreenlet(PyObject* greenlet) {
  const ErrorAside aside;
  if (!IsRecordingInPhase(StateOf(main_module))) return;
  if (own_track.LeaveGreenlet(native_calls::CurrentGreenlet())) ReportMixedGreenlets();
  SwitchToGreenlet(StateOf(main_module)->tasks, greenlet);
}

void OnGreenletEntering(PyObject* greenlet) {
  if (!runtime::IsIdleOrTimed()) EnterGreenlet(greenlet);
}

__attribute__((noinline)) void LeaveGreenlet() {
  const ErrorAside aside;
  const uint32_t thread = rlscope_self.thread;
  if (!IsRecordingInPhase(StateOf(main_module))) return;
  own_track.ResumeGreenlet(native_calls::CurrentGreenlet());
  SwitchTask(StateOf(main_module)->tasks, nullptr);
  if (rlscope_self.thread != thread) NameThread();
}

void OnGreenletLeft() {
  if (!runtime::IsIdleOrTimed()) LeaveGreenlet();
}

void OnLoaded(PyObject* spec) {
  const native_calls::Owned function(Py_XNewRef(loaded_function));
  if (!function) return;
  const native_calls::Owned done(
      PyObject_CallOneArg(function.get(), spec == nullptr ? Py_None : spec));
}

void OnScanned() {
  const native_calls::Owned function(Py_XNewRef(scanned_function));
  if (!function) return;
  const native_calls::Owned done(PyObject_CallNoArgs(function.get()));
}

void OnExecuted(PyObject* module) {
  const native_calls::Owned function(Py_XNewRef(executed_function));
  if (!function || !PyModule_Check(module)) return;
  const native_calls::Owned name(PyModule_GetNameObject(module));
  if (!name || PySet_Contains(executed_names, name.get()) != 1) return;
  const native_calls::Owned done(PyObject_CallOneArg(function.get(), module));
}

void UseHooks(PyObject* module) {
  if (main_module == nullptr) main_module = Py_NewRef(module);
  native_calls::call_hooks.window_began = OnWindow;
  native_calls::call_hooks.thread_began = OnThread;
  native_calls::call_hooks.in_main_interpreter = [] {
    return PyInterpreterState_Get() == PyInterpreterState_Main();
  };
  native_calls::SetResultHook(&native_calls::PatchResult);
  native_calls::UseProbeStub();
  FollowsContextRun(native_calls::FollowContexts({OnContextEntering, OnContextLeft}));
}

// ---- conversions
// ---------------------------------------------------------------------------------

struct Number {
  const char* name;
  uint64_t value;
};

template <size_t kCount>
PyObject* ToDictionary(const Number (&numbers)[kCount]) {
  PyObject* dictionary = PyDict_New();
  if (dictionary == nullptr) return nullptr;
  for (const Number& number : numbers) {
    const native_calls::Owned value(PyLong_FromUnsignedLongLong(number.value));
    if (!value || PyDict_SetItemString(dictionary, number.name, value.get()) != 0) {
      Py_DECREF(dictionary);
      return nullptr;
    }
  }
  return dictionary;
}

PyObject* CountsAsDictionary() {
  const native_calls::PatchCounts patches = native_calls::Counts();
  const native_calls::ScanCounts scans = native_calls::CountScans();
  return ToDictionary({{"libraries", native_calls::WatchedLibraries().size()},
                       {"pointers", patches.pointers},
                       {"replaced", patches.replaced},
                       {"dispatchers", patches.dispatchers},
                       {"stubs", patches.stubs},
                       {"hot", patches.hot},
                       {"shared", patches.shared},
                       {"refused", patches.refused},
                       {"passed_through", patches.passed_through},
                       {"scans", scans.scans},
                       {"types", scans.types},
                       {"patched", scans.patched},
                       {"last_scan_ns", scans.last_ns},
                       {"scan_ns", scans.all_ns}});
}

// trace::Layer of a name; kNone, with an error set, of one that no library can have.
trace::Layer LayerOf(PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (text == nullptr) return trace::Layer::kNone;
  if (strcmp(text, "simulator") == 0) return trace::Layer::kSimulator;
  if (strcmp(text, "framework") == 0) return trace::Layer::kFramework;
  PyErr_Format(PyExc_ValueError, "layer must be \"simulator\" or \"framework\", not %R", name);
  return trace::Layer::kNone;
}

bool RaiseRefusal() {
  const char* reason = native_calls::Refusal();
  if (reason == nullptr) return false;
  PyErr_SetString(PyExc_RuntimeError, reason);
  return true;
}

// ---- functions of the module
// ---------------------------------------------------------------------

PyObject* Watch(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "intercept_watch takes a pattern and a layer, both str");
    return nullptr;
  }
  const trace::Layer layer = LayerOf(arguments[1]);
  if (layer == trace::Layer::kNone) return nullptr;
  PyObject* pattern = nullptr;
  if (!PyUnicode_FSConverter(arguments[0], &pattern)) return nullptr;
  const native_calls::Owned path(pattern);
  native_calls::WatchLibrary(PyBytes_AS_STRING(pattern), static_cast<uint32_t>(layer));
  Py_RETURN_NONE;
}

PyObject* ScanAll(PyObject* module, PyObject*) {
  if (RaiseRefusal()) return nullptr;
  UseHooks(module);
  native_calls::ScanEverything();
  return CountsAsDictionary();
}

void KeepFunctions(PyObject* loaded, PyObject* scanned) {
  Py_XSETREF(loaded_function, loaded == Py_None ? nullptr : Py_NewRef(loaded));
  Py_XSETREF(scanned_function, scanned == Py_None ? nullptr : Py_NewRef(scanned));
}

// intercept_at_import(loaded, scanned, patching).
PyObject* AtImport(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "intercept_at_import takes two functions and a bool");
    return nullptr;
  }
  const int patching = PyObject_IsTrue(arguments[2]);
  if (patching < 0 || (patching != 0 && RaiseRefusal())) return nullptr;
  KeepFunctions(arguments[0], arguments[1]);
  if (loaded_function == nullptr && scanned_function == nullptr && patching == 0) {
    native_calls::FollowImports({nullptr, nullptr, nullptr, false});
    Py_RETURN_NONE;
  }
  if (patching != 0) UseHooks(module);
  if (native_calls::FollowImports({OnLoaded, OnScanned, OnExecuted, patching != 0})) Py_RETURN_NONE;
  PyErr_SetString(PyExc_RuntimeError, "rlscope does not know the importlib of this interpreter");
  return nullptr;
}

// intercept_executed(names, function).
PyObject* AtExecution(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyAnySet_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "intercept_executed takes a set and a function");
    return nullptr;
  }
  Py_XSETREF(executed_names, Py_NewRef(arguments[0]));
  Py_XSETREF(executed_function, Py_NewRef(arguments[1]));
  Py_RETURN_NONE;
}

struct WaitObjectName {
  const char* name;
  native_calls::WaitObject object;
};
constexpr WaitObjectName kWaitObjects[] = {
    {"", native_calls::WaitObject::kNone},
    {"descriptor", native_calls::WaitObject::kDescriptor},
    {"self", native_calls::WaitObject::kOwnDescriptor},
    {"ready", native_calls::WaitObject::kReadyDescriptor},
    {"semaphore", native_calls::WaitObject::kSemaphore},
    {"process", native_calls::WaitObject::kProcess},
    {"socketpair", native_calls::WaitObject::kSocketPair},
};

// intercept_wait(function, name, kind, object, opens) -> bool.
PyObject* Wait(PyObject* module, PyObject* arguments) {
  PyObject* function;
  const char *name, *kind, *object;
  int opens;
  if (!PyArg_ParseTuple(arguments, "Osssp:intercept_wait", &function, &name, &kind, &object,
                        &opens) ||
      RaiseRefusal()) {
    return nullptr;
  }
  UseHooks(module);
  for (const WaitObjectName& known : kWaitObjects) {
    if (strcmp(known.name, object) != 0) continue;
    return PyBool_FromLong(
        native_calls::PatchWait(function, {name, kind, known.object, opens != 0}));
  }
  return PyErr_Format(PyExc_ValueError, "no wait has the object %s", object);
}

// intercept_serializer(function, name) -> bool.
PyObject* Serializer(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "intercept_serializer takes a function and a str");
    return nullptr;
  }
  if (RaiseRefusal()) return nullptr;
  const native_calls::Holder holder = native_calls::HolderOf(arguments[0]);
  const bool is_builtin =
      holder == native_calls::Holder::kFunction || holder == native_calls::Holder::kMethod;
  if (!is_builtin) Py_RETURN_FALSE;
  UseHooks(module);
  const NameText name(arguments[1]);
  const native_calls::Callee callee = {name.data(), name.size(),
                                       static_cast<uint32_t>(trace::Layer::kPython)};
  void** location = native_calls::PointersOf(arguments[0], holder).location[0];
  const native_calls::Patched patched =
      native_calls::PatchPointer(location, callee, native_calls::kSerialization, arguments[0]);
  return PyBool_FromLong(patched != native_calls::Patched::kRefused);
}

// intercept_name(function, name) -> bool.
PyObject* Name(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "intercept_name takes a function and a str");
    return nullptr;
  }
  const NameText name(arguments[1]);
  return PyBool_FromLong(native_calls::NameMade(arguments[0], {name.data(), name.size()}));
}

PyObject* WaitForGil(PyObject*, PyObject*) {
  if (RaiseRefusal()) return nullptr;
  return PyBool_FromLong(native_calls::PatchGil());
}

// plain_call() and recorded_call() do nothing, in one C function. intercept_probe() puts a stub
// before the second: the difference of the two is the cost of a record.
PyObject* DoNothing(PyObject*, PyObject*) { Py_RETURN_NONE; }

PyMethodDef probes[] = {{"plain_call", DoNothing, METH_NOARGS, nullptr},
                        {"recorded_call", DoNothing, METH_NOARGS, nullptr},
                        {nullptr, nullptr, 0, nullptr}};

PyObject* Probe(PyObject*, PyObject*) {
  if (RaiseRefusal()) return nullptr;
  constexpr char kName[] = "rlscope:recorded_call";
  const native_calls::Callee callee = {kName, sizeof kName - 1,
                                       static_cast<uint32_t>(trace::Layer::kFramework)};
  auto** location = reinterpret_cast<void**>(&probes[1].ml_meth);
  const native_calls::Patched patched =
      native_calls::PatchPointer(location, callee, native_calls::kPlain, nullptr);
  return PyBool_FromLong(patched != native_calls::Patched::kRefused);
}

// callback_begin() -> bytes | None: what callback_end() needs; None outside of recorded calls.
PyObject* CallbackBegin(PyObject*, PyObject*) {
  if (rlscope_self.call == 0) Py_RETURN_NONE;
  const native_calls::Owned kept(PyBytes_FromStringAndSize(nullptr, sizeof(rlscope_callback)));
  if (!kept) return nullptr;
  rlscope_callback callback;
  rlscope_begin_callback(&callback);
  memcpy(PyBytes_AS_STRING(kept.get()), &callback, sizeof callback);
  return Py_NewRef(kept.get());
}

// callback_end(bytes | None), in the same thread.
PyObject* CallbackEnd(PyObject*, PyObject* kept) {
  if (kept == Py_None) Py_RETURN_NONE;
  rlscope_callback callback;
  if (!PyBytes_Check(kept) || PyBytes_GET_SIZE(kept) != sizeof callback) {
    PyErr_SetString(PyExc_TypeError, "callback_end() takes what callback_begin() returned");
    return nullptr;
  }
  memcpy(&callback, PyBytes_AS_STRING(kept), sizeof callback);
  rlscope_end_callback(&callback);
  Py_RETURN_NONE;
}

PyObject* Unpatch(PyObject*, PyObject*) {
  KeepFunctions(Py_None, Py_None);
  Py_CLEAR(executed_function);
  FollowsContextRun(false);
  FollowsGreenlets(false);
  const uint64_t remembered = native_calls::UnpatchAll();
  const uint64_t reached = native_calls::RestoreReached();
  native_calls::ForgetHooks();
  return ToDictionary({{"remembered", remembered}, {"reached", reached}});
}

// intercept_greenlets(module).
PyObject* Greenlets(PyObject* own, PyObject* module) {
  if (main_module == nullptr) main_module = Py_NewRef(own);
  const bool follows = native_calls::FollowGreenlets(module, {OnGreenletEntering, OnGreenletLeft});
  FollowsGreenlets(follows);
  return PyBool_FromLong(follows);
}

PyObject* Remember(PyObject*, PyObject*) {
  native_calls::RememberTypes();
  Py_RETURN_NONE;
}

PyObject* SwitchAll(PyObject*, PyObject* in_force) {
  const int wanted = PyObject_IsTrue(in_force);
  if (wanted < 0) return nullptr;
  native_calls::SwitchStubs(wanted != 0);
  Py_RETURN_NONE;
}

PyObject* CountsNow(PyObject*, PyObject*) { return CountsAsDictionary(); }

PyObject* Supported(PyObject*, PyObject*) {
  const char* reason = native_calls::Refusal();
  if (reason == nullptr) Py_RETURN_NONE;
  return PyUnicode_FromString(reason);
}

PyCFunction Fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {{"callback_begin", CallbackBegin, METH_NOARGS, nullptr},
                         {"callback_end", CallbackEnd, METH_O, nullptr},
                         {"intercept_at_import", Fast(AtImport), METH_FASTCALL, nullptr},
                         {"intercept_executed", Fast(AtExecution), METH_FASTCALL, nullptr},
                         {"intercept_gil", WaitForGil, METH_NOARGS, nullptr},
                         {"intercept_greenlets", Greenlets, METH_O, nullptr},
                         {"intercept_name", Fast(Name), METH_FASTCALL, nullptr},
                         {"intercept_probe", Probe, METH_NOARGS, nullptr},
                         {"intercept_serializer", Fast(Serializer), METH_FASTCALL, nullptr},
                         {"intercept_wait", Wait, METH_VARARGS, nullptr},
                         {"intercept_watch", Fast(Watch), METH_FASTCALL, nullptr},
                         {"intercept_scan", ScanAll, METH_NOARGS, nullptr},
                         {"intercept_remember", Remember, METH_NOARGS, nullptr},
                         {"intercept_switch", SwitchAll, METH_O, nullptr},
                         {"intercept_unpatch", Unpatch, METH_NOARGS, nullptr},
                         {"intercept_counts", CountsNow, METH_NOARGS, nullptr},
                         {"intercept_supported", Supported, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

int AddNativeCalls(PyObject* module) {
  if (PyModule_AddFunctions(module, probes) != 0) return -1;
  return PyModule_AddFunctions(module, methods);
}

}  // namespace rlscope::python
