// Finds the native functions of watched libraries by the address of their code, wherever the
// interpreter keeps pointers to them, and patches those pointers. There is no list of names.
#ifndef RLSCOPE_NATIVE_CALLS_SCANNER_H_
#define RLSCOPE_NATIVE_CALLS_SCANNER_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include <string>

namespace rlscope::native_calls {

// All functions need the GIL of the main interpreter and leave a pending exception alone.

struct ScanCounts {
  uint64_t scans;
  uint64_t types;    // in the last scan
  uint64_t patched;  // pointers, by all scans
  uint64_t last_ns;  // duration of the last one
  uint64_t all_ns;   // and of all
};

// Patches every pointer that it reaches: in types, modules, and what only the collector knows.
// Without a watched library it returns at once.
void Scan();

// Whether the object is an extension module of a watched library.
bool IsWatchedModule(PyObject* object);

// Patches what an extension module and the types in its namespace hold, for cases in which a whole
// scan must wait.
void ScanModule(PyObject* module);

// Patches what was just made: a function, descriptor or callable; a type's slots and namespace; a
// module's namespace.
void ScanObject(PyObject* object);

// Patches what was just put into the namespace of a module or class, and names it after that.
void ScanMember(PyObject* scope, PyObject* name, PyObject* value);

// Names a function or callable that is made at run time, whose library could not: only what made it
// knows the name. "module:function"; false: nothing of it is patched.
bool NameMade(PyObject* object, const std::string& name);

// Remembers the stubs in classes too, which may die: from now on they are kept until UnpatchAll().
void RememberTypes();

// Puts the original back into every place that a scan reaches and that holds a stub; returns how
// many.
uint64_t RestoreReached();

ScanCounts CountScans();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_SCANNER_H_
