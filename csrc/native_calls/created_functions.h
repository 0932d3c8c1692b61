// Functions, types and callables that a watched library makes after it was scanned: torch.ops are
// made at their first use, jitted functions whenever the program asks for one.
#ifndef RLSCOPE_NATIVE_CALLS_CREATED_FUNCTIONS_H_
#define RLSCOPE_NATIVE_CALLS_CREATED_FUNCTIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <vector>

#include "native_calls/imported_functions.h"

namespace rlscope::native_calls {

// For HookImports(): the interpreter's functions that make functions and types, and that put them
// into namespaces.
const std::vector<ImportHook>& CreationHooks();

// For SetResultHook(): a result that carries a vectorcall pointer into watched code.
void PatchResult(PyObject* result);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CREATED_FUNCTIONS_H_
