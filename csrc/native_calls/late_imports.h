// Libraries that come later: extension modules as they are imported, and whatever ctypes opens.
//
// Nothing of importlib is wrapped. The builtins that it calls (_imp.create_dynamic,
// _imp.exec_dynamic, _imp.release_lock) and _ctypes.dlopen get another C function in the place of
// theirs, which calls theirs: the program sees the same objects.
#ifndef RLSCOPE_NATIVE_CALLS_LATE_IMPORTS_H_
#define RLSCOPE_NATIVE_CALLS_LATE_IMPORTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::native_calls {

struct ImportHooks {
  // Native code was loaded, by importlib from this ModuleSpec or by ctypes (null); patterns may be
  // added now. May run Python code; an error that it leaves is dropped. May be null, as the next.
  void (*loaded)(PyObject* spec);
  void (*scanned)();  // what is loaded is patched
  // An extension module, built in or loaded, has been executed: its functions and types are there.
  // May run Python code, as the first. May be null.
  void (*executed)(PyObject* module);
  bool patching;  // false: libraries are neither hooked nor scanned
};

// From now on, reports libraries, and patches those that are watched when the import of their
// package has ended. UnpatchAll() ends it. False, with no Python error, where importlib is not as
// expected.
bool FollowImports(const ImportHooks& hooks);

// Finds the watched libraries that are loaded, hooks what they import, and scans.
void ScanEverything();

// After UnpatchAll(): the next ScanEverything() hooks what libraries import once more.
void ForgetHooks();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_LATE_IMPORTS_H_
