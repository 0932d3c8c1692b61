// Puts stubs where CPython finds the native functions of a watched library, and takes them out
// again. Each patch is one aligned pointer store and works at once: CPython reads these pointers at
// call time in every opcode, specialised and jitted ones included.
//
// All functions need the GIL of the main interpreter, or an attached thread in a free-threaded
// build; they guard themselves against each other there. They set no Python error.
#ifndef RLSCOPE_NATIVE_CALLS_PATCH_H_
#define RLSCOPE_NATIVE_CALLS_PATCH_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "native_calls/callee.h"

namespace rlscope::native_calls {

enum PatchFlags : uint32_t {
  kPlain = 0,
  // A type slot, or anything else that is compared by address (two types that share a slot, numpy's
  // binary operators, tp_new): every location of one original gets the same stub, and its name.
  kShareStub = 1,
  // Results go to the hook of SetResultHook().
  kWatchResult = 2,
  // A thread waits in it: calls go to the hook of waits.cc.
  kWaits = 4,
  // It makes bytes of objects, or objects of bytes (RecordSerialization() in call.h).
  kSerialization = 8,
};

enum class Patched {
  kYes,
  kAlready,  // the location holds a stub; it is remembered like a patched one
  kShared,   // the pool is nearly full: the location got a stub that others of its original share
  kRefused,  // no stub is left, or the page could not be made writable; counted
};

// Stores a stub in *location. `keep`: a strong reference to what holds the location, taken until
// UnpatchAll(); null: static storage of a library that is never unloaded.
Patched PatchPointer(void** location, const Callee& callee, uint32_t flags, PyObject* keep);

// The same for a location that may die at any time (the PyMethodDef of a function made at run
// time, such as pybind11's). It is not remembered: locations of one original under one name share a
// stub, which outlives them and is never given to another name. kShared: so many names were made
// that this one shares a stub and the name "(other)".
Patched PatchDispatcher(void** location, const Callee& callee, uint32_t flags);

// Stores a function of ours in *location (a GOT entry, a method of CPython's own) and remembers
// both; UnpatchAll() puts the old pointer back, unless somebody else has changed it since.
Patched ReplacePointer(void** location, void* replacement, PyObject* keep);

// Puts the original back if *location holds a stub. For scans that look for what is not remembered
// (dispatchers, slots inherited since). True: it did.
bool UnpatchPointer(void** location);

// Puts back every pointer that is remembered and still is a stub or a replacement, and lets go of
// the strong references; returns how many. Stubs that are still reached (copied pointers,
// dispatchers) pass through from then on, and Counts() counts their calls. A later PatchPointer()
// of the same location finds its stub again.
size_t UnpatchAll();

// Puts the originals of all stubs that are remembered back for a while, or the stubs again. Takes
// some 300 us for those of PyTorch. What is patched meanwhile is in force at once.
void SwitchStubs(bool in_force);

// Gets every result (a new reference's pointer, or null) of functions patched with kWatchResult,
// recorded or not, in the calling thread, before the caller of the function does.
void SetResultHook(void (*hook)(PyObject* result));

struct PatchCounts {
  // How many of the remembered pointers hold a stub now. After UnpatchAll(): how many stubs and
  // replacements the kernel did not let it put back.
  uint64_t pointers;
  uint64_t replaced;        // ReplacePointer()s in force
  uint64_t dispatchers;     // pointers that PatchDispatcher() has changed, dead ones included
  uint64_t stubs;           // in use
  uint64_t hot;             // in the hot block
  uint64_t shared;          // pointers that got a shared stub because the pool is full
  uint64_t refused;         // pointers that could not be patched
  uint64_t passed_through;  // calls of stubs after their UnpatchAll()
};
PatchCounts Counts();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_PATCH_H_
