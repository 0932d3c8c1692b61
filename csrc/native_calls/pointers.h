// The places where CPython keeps the C pointers that it calls through: what can be patched in a
// type, a builtin function, a descriptor, or an object that carries its own vectorcall pointer.
#ifndef RLSCOPE_NATIVE_CALLS_POINTERS_H_
#define RLSCOPE_NATIVE_CALLS_POINTERS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

namespace rlscope::native_calls {

enum class Suite : uint8_t { kType, kNumber, kSequence, kMapping };

// A type slot that is worth a patch: one that an opcode or a builtin of CPython calls, and that
// is not called a hundred times for one line of Python (tp_getattro, tp_traverse, tp_free) or
// compared (tp_dealloc, by __class__ assignment).
struct Slot {
  const char* name;  // of the method that it stands for
  uint16_t offset;
  Suite suite;
  bool makes_object;  // its result is an object that may be a new callable
};
extern const Slot kSlots[];
extern const size_t kSlotCount;

// Where the type keeps the slot; null if it has no such suite.
void** SlotOf(PyTypeObject* type, const Slot& slot);

// The pointers of one object.
enum class Holder {
  kNothing,
  kFunction,    // builtin_function_or_method, builtin_method
  kMethod,      // method_descriptor, classmethod_descriptor
  kGetSet,      // getset_descriptor
  kWrapper,     // wrapper_descriptor: a type slot under its Python name
  kVectorcall,  // a callable with a pointer of its own: nanobind's and jaxlib's functions
};
Holder HolderOf(PyObject* object);

struct Pointers {
  void** location[2] = {nullptr, nullptr};  // two of a getset descriptor: get and set
};
Pointers PointersOf(PyObject* object, Holder holder);

// The function in a staticmethod, classmethod, bound or instance method, at any depth; the object
// itself if it is none of them. Borrowed.
PyObject* Unwrap(PyObject* object);

// Where an object keeps a vectorcall pointer of its own; null if it has none, or is a Python
// function, a bound method or a type.
void** VectorcallOf(PyObject* object);

// For PointersOf(): an object whose vectorcall pointer is `front` keeps the one that `front` calls
// at behind(object).
void SetVectorcallBehind(void* front, void** (*behind)(PyObject* object));

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_POINTERS_H_
