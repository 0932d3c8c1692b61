// "module:function" of each patched function, as a reader of the trace would look for it.
#ifndef RLSCOPE_NATIVE_CALLS_CALLEE_NAMES_H_
#define RLSCOPE_NATIVE_CALLS_CALLEE_NAMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

#include "native_calls/pointers.h"
#include "native_calls/watched_code.h"

namespace rlscope::native_calls {

// Where an object was found, which often names it better than it names itself: every function of a
// pybind11 class calls itself "PyCapsule.f". Borrowed, all may be null.
struct Place {
  PyObject* module = nullptr;     // in its namespace, or
  PyTypeObject* type = nullptr;   // in the namespace of a class
  PyObject* attribute = nullptr;  // under this name
};

// Whether what a builtin is bound to is the binding generator's record of the function itself, as
// pybind11 makes one with each: it owns the function's definition, and nothing of the program's.
bool IsFunctionRecord(PyObject* self);

// "torch._C:TensorBase".
std::string NameOfType(PyTypeObject* type, const WatchedRange& library);

// "torch._C:TensorBase.__getitem__".
std::string NameOfSlot(PyTypeObject* type, const Slot& slot, const WatchedRange& library);

// "torch:add", "torch._C:TensorBase.item", "mujoco._structs:MjData.qpos".
std::string NameOfCallable(PyObject* object, Holder holder, const Place& place,
                           const WatchedRange& library);

// Names callables without a name by their type: "jaxlib._jax:PjitFunction". The type of a binding
// generator (nanobind's nb_func) says nothing: "jaxlib:(unnamed)".
std::string NameOfCallables(PyTypeObject* type, const WatchedRange& library);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CALLEE_NAMES_H_
