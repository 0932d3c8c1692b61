// The compiled functions that are watched (compiled.h), by their addresses: what their
// pointers were, and what is known of them.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_COMPILED_TABLE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_COMPILED_TABLE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

namespace rlscope::python {

// An object whose pointer was replaced, found by its address. A slot is never given up. If its
// object dies, it serves the next object at that address, which is watched anew before it is
// called.
struct CompiledSlot {
  PyObject* function;  // borrowed, and not to be touched: only its address counts
  vectorcallfunc call;
  uint32_t note;    // id of the name, 0: not asked for yet; of a function of PyTorch: Forwards
  uint32_t trains;  // id of the name once it is known to compute gradients, 0: it does not
  uint32_t acts;    // a step of an environment followed it
  uint32_t waits;   // for results of others: it is none itself
  uint32_t quiet;   // its last call returned nothing
};
constexpr size_t kCompiledSlots = 1 << 14;  // a program compiles some hundred functions
// Open addressing, at most half full; pages are zero until used. A reader needs no lock.
inline CompiledSlot compiled_slots[kCompiledSlots];

// The slot of the object, or the free one where it belongs.
inline CompiledSlot* FindCompiled(const PyObject* function) {
  const uint64_t hash = reinterpret_cast<uintptr_t>(function) * 0x9e3779b97f4a7c15u;  // Fibonacci
  for (size_t i = hash >> 50;; i = (i + 1) % kCompiledSlots) {
    PyObject* there = __atomic_load_n(&compiled_slots[i].function, __ATOMIC_ACQUIRE);
    if (there == function || there == nullptr) return &compiled_slots[i];
  }
}
static_assert(kCompiledSlots == size_t{1} << (64 - 50));

// Gives the object a slot in which nothing is known yet. False: there are too many.
bool AddCompiled(PyObject* function, vectorcallfunc call);

// Puts `call`, always the same, in the place of the object's own vectorcall pointer, which its slot
// keeps. False: its type has no such pointer, or there are too many. Sets no Python error.
bool ReplaceCall(PyObject* function, vectorcallfunc call);

// Id of the operation name "compiled:<__name__>"; 0 if the object is null or has no name. Sets no
// Python error.
uint32_t NameOfCompiled(PyObject* function);

// Tracing told that a compiled function that is being called computes gradients. The address of a
// TensorFlow function stays remembered: a function that is made there later counts as well.
void NoteTraining(PyObject* function);
// Id of the operation name "update:<__name__>" of a function that computes gradients, else 0.
uint32_t NameOfTraining(const PyObject* function);

// A call of a compiled function returned `result`; null: it raised.
void NoteReturned(PyObject* function, const PyObject* result);
// Whether it returns nothing, and computes no gradients: it only changes what it was given.
bool IsQuiet(const PyObject* function);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_COMPILED_TABLE_H_
