// Builtin functions hash and compare by their C pointer: a dictionary keyed by a builtin would lose
// it at the patch (importing torch._dynamo then fails). This makes both see through stubs.
#ifndef RLSCOPE_NATIVE_CALLS_BUILTIN_IDENTITY_H_
#define RLSCOPE_NATIVE_CALLS_BUILTIN_IDENTITY_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::native_calls {

// Replaces tp_hash and tp_richcompare of builtin_function_or_method and builtin_method, once; a
// patch calls it first. It stays: with no stub in place it answers what the interpreter does.
void InstallBuiltinIdentity();

// The same for a subtype that inherited the two before (Cython's functions): called for the type of
// every builtin that is patched.
void InstallBuiltinIdentity(PyTypeObject* type);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_BUILTIN_IDENTITY_H_
