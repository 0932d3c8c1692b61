#include "native_calls/late_imports.h"

#include <string>
#include <vector>

#include "base/clock.h"
#include "native_calls/callbacks.h"
#include "native_calls/created_functions.h"
#include "native_calls/imported_functions.h"
#include "native_calls/owned.h"
#include "native_calls/patch.h"
#include "native_calls/scanner.h"
#include "native_calls/watched_code.h"

namespace rlscope::native_calls {
namespace {

// Everything is reached under the GIL of the main interpreter. Without a GIL importing is
// serialised by the import lock, but for dlopen: two scans at a time would only repeat each other.
PyObject* module_locks = nullptr;  // importlib's: name of a module that is being imported -> lock
std::vector<const WatchedRange*> unscanned;
// Never destroyed: at the process's exit the interpreter is gone.
std::vector<Owned>& unscanned_modules = *new std::vector<Owned>();
ImportHooks import_hooks = {nullptr, nullptr, nullptr, false};

// Inside an import that goes on, as some programs do all they do in one, scans take no more than
// this part of the time: they cost 40 ms and more, and jax alone loads 20 libraries one by one.
constexpr int64_t kScanShare = 20;
int64_t scan_end_ns = 0;
int64_t scan_ns = 0;
bool scan_due = false;

bool hooks_forgotten = false;

bool IsMainInterpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

// "torch" of a module that is called "torch.nn.functional".
std::string TopPackage(PyObject* name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &size) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  const std::string whole(text, static_cast<size_t>(size));
  return whole.substr(0, whole.find('.'));
}

bool IsBelow(const std::string& path, const std::string& package) {
  return path.find("/" + package + "/") != std::string::npos ||
         path.find("/" + package + ".") != std::string::npos;
}

// Whether the import of a package that an unscanned library lies in has not ended.
bool IsImportingTheirs() {
  PyObject *name, *lock;
  Py_ssize_t position = 0;
  while (PyDict_Next(module_locks, &position, &name, &lock)) {
    const std::string package = TopPackage(name);
    for (const WatchedRange* library : unscanned) {
      if (!package.empty() && IsBelow(library->path, package)) return true;
    }
  }
  return false;
}

bool IsScanCheap() { return base::ReadMonotonicNs() - scan_end_ns > kScanShare * scan_ns; }

void ScanNow() {
  const int64_t start_ns = base::ReadMonotonicNs();
  unscanned.clear();
  unscanned_modules.clear();
  Scan();
  scan_end_ns = base::ReadMonotonicNs();
  scan_ns = scan_end_ns - start_ns;
}

// The cheap part, until a scan is due.
void ScanModules() {
  for (const Owned& module : unscanned_modules) ScanModule(module.get());
  unscanned_modules.clear();
}

void TellScanned() {
  const ErrorAside aside;
  if (import_hooks.scanned != nullptr) import_hooks.scanned();
}

// One step of importlib was taken. Costs a load and a test when there is nothing to scan.
void AfterStep() {
  if (unscanned.empty() && !scan_due) return;
  const bool is_importing = PyDict_GET_SIZE(module_locks) != 0;
  const bool has_new = !unscanned.empty();
  if (is_importing) {
    if (!has_new || IsImportingTheirs()) return;
    if (!IsScanCheap()) return ScanModules();
  }
  ScanNow();
  // What is made in the rest of the import is found, and named, at the end of it.
  scan_due = is_importing;
  TellScanned();
}

void Hook(const WatchedRange& library) {
  HookImports(library, CallbackHooks());
  HookImports(library, CreationHooks());
}

// Work that a library needs as soon as it was loaded.
void FollowLibraries() {
  for (const WatchedRange* library : RefreshWatchedCode()) {
    Hook(*library);
    unscanned.push_back(library);
  }
}

// A builtin of the interpreter whose C function is replaced by one of ours.
struct Builtin {
  PyCFunction original = nullptr;

  bool Replace(PyObject* function, PyCFunction replacement) {
    if (function == nullptr || !PyCFunction_Check(function)) return false;
    PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
    if (definition->ml_meth == replacement) return true;
    original = definition->ml_meth;
    return ReplacePointer(reinterpret_cast<void**>(&definition->ml_meth),
                          reinterpret_cast<void*>(replacement), nullptr) != Patched::kRefused;
  }

  // As one that takes its arguments in an array.
  PyObject* CallFast(PyObject* self, PyObject* const* arguments, Py_ssize_t count) const {
    return reinterpret_cast<PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t)>(
        reinterpret_cast<void (*)()>(original))(self, arguments, count);
  }
};

Builtin create_dynamic, exec_dynamic, exec_builtin, release_lock, dlopen_builtin;

// `spec` is borrowed; null: ctypes opened it.
void AfterLoading(PyObject* spec) {
  if (!IsMainInterpreter()) return;
  const ErrorAside aside;
  if (import_hooks.loaded != nullptr) import_hooks.loaded(spec);
  if (!import_hooks.patching) return;
  const ErrorAside what_the_hook_raised;
  FollowLibraries();
}

PyObject* OpenLibrary(PyObject* self, PyObject* arguments) {
  PyObject* result = dlopen_builtin.original(self, arguments);
  AfterLoading(nullptr);
  return result;
}

bool HasFlags(const Owned& function, int flags) {
  return function && PyCFunction_Check(function.get()) &&
         PyCFunction_GET_FLAGS(function.get()) == flags;
}

void FollowCtypes(PyObject* module) {
  const Owned open(PyObject_GetAttrString(module, "dlopen"));
  if (!open) PyErr_Clear();
  if (HasFlags(open, METH_VARARGS)) dlopen_builtin.Replace(open.get(), OpenLibrary);
}

PyObject* CreateDynamic(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  PyObject* module = create_dynamic.CallFast(self, arguments, count);
  AfterLoading(count > 0 ? arguments[0] : nullptr);
  if (module != nullptr && PyModule_Check(module) && IsMainInterpreter()) {
    const ErrorAside aside;
    const char* name = PyModule_GetName(module);
    if (name != nullptr && std::string(name) == "_ctypes") FollowCtypes(module);
  }
  return module;
}

void TellExecuted(PyObject* module) {
  const ErrorAside aside;
  if (import_hooks.executed != nullptr) import_hooks.executed(module);
}

PyObject* ExecBuiltin(PyObject* self, PyObject* module) {
  PyObject* result = exec_builtin.original(self, module);
  if (result != nullptr && IsMainInterpreter()) TellExecuted(module);
  return result;
}

// Modules that are loaded from a file directly, as Inductor's are, go through no import lock.
PyObject* ExecDynamic(PyObject* self, PyObject* module) {
  PyObject* result = exec_dynamic.original(self, module);
  if (result == nullptr || !IsMainInterpreter()) return result;
  TellExecuted(module);
  if (import_hooks.patching && IsWatchedModule(module)) {
    unscanned_modules.emplace_back(Py_NewRef(module));
  }
  AfterStep();
  return result;
}

PyObject* ReleaseLock(PyObject* self, PyObject* unused) {
  PyObject* result = release_lock.original(self, unused);
  if (result != nullptr && IsMainInterpreter()) AfterStep();
  return result;
}

PyCFunction Fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

Owned Attribute(PyObject* object, const char* name) {
  Owned attribute(object == nullptr ? nullptr : PyObject_GetAttrString(object, name));
  if (!attribute) PyErr_Clear();
  return attribute;
}

bool FindModuleLocks() {
  if (module_locks != nullptr) return true;
  const Owned importlib(PyImport_ImportModule("_frozen_importlib"));
  if (!importlib) PyErr_Clear();
  const Owned locks = Attribute(importlib.get(), "_module_locks");
  if (!locks || !PyDict_Check(locks.get())) return false;
  module_locks = Py_NewRef(locks.get());
  return true;
}

}  // namespace

void ScanEverything() {
  FollowLibraries();
  if (hooks_forgotten) {
    for (const WatchedRange* library : WatchedLibraries()) Hook(*library);
    hooks_forgotten = false;
  }
  scan_due = false;
  ScanNow();
  TellScanned();
}

void ForgetHooks() {
  hooks_forgotten = true;
  import_hooks = {nullptr, nullptr, nullptr, false};
  scan_due = false;
  unscanned.clear();
  unscanned_modules.clear();
}

bool FollowImports(const ImportHooks& hooks) {
  const ErrorAside aside;
  import_hooks = hooks;
  const Owned builtins(PyImport_ImportModule("_imp"));
  if (!builtins || !FindModuleLocks()) return false;
  const Owned create = Attribute(builtins.get(), "create_dynamic");
  const Owned exec = Attribute(builtins.get(), "exec_dynamic");
  const Owned execute_builtin = Attribute(builtins.get(), "exec_builtin");
  const Owned release = Attribute(builtins.get(), "release_lock");
  if (!HasFlags(create, METH_FASTCALL) || !HasFlags(exec, METH_O) ||
      !HasFlags(execute_builtin, METH_O) || !HasFlags(release, METH_NOARGS)) {
    return false;
  }
  PyObject* ctypes = PyDict_GetItemString(PyImport_GetModuleDict(), "_ctypes");
  if (ctypes != nullptr) FollowCtypes(ctypes);
  return create_dynamic.Replace(create.get(), Fast(CreateDynamic)) &&
         exec_dynamic.Replace(exec.get(), ExecDynamic) &&
         exec_builtin.Replace(execute_builtin.get(), ExecBuiltin) &&
         release_lock.Replace(release.get(), ReleaseLock);
}

}  // namespace rlscope::native_calls
