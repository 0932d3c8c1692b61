// Whose code a function pointer leads to: the libraries that the user's program loaded and that
// belong to a framework or simulator, by their place in memory.
//
// Nothing here runs Python code. Patterns and refreshes exclude each other; lookups never
// wait.
#ifndef RLSCOPE_NATIVE_CALLS_WATCHED_CODE_H_
#define RLSCOPE_NATIVE_CALLS_WATCHED_CODE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include <string>
#include <vector>

namespace rlscope::native_calls {

// One watched library, from its first to its last segment. Lives, mapped, to the process's end.
struct WatchedRange {
  uintptr_t begin;
  uintptr_t end;
  uint32_t layer;       // trace::Layer
  std::string path;     // real path
  std::string package;  // what the path is called as a module: "torch" of .../torch/lib/libc10.so
  uintptr_t base;       // what the addresses in its dynamic section are relative to
  const void* dynamic;  // its dynamic section, or null

  // The library compares its number slots with functions of its own, as numpy does to find out
  // whether another type overrides an operator: they must stay as they are.
  bool compares_number_slots;
  // It was seen to make callables with a C pointer of their own, as jaxlib and nanobind do.
  bool makes_callables;

  bool Holds(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end;
  }
};

// Watches every shared object, loaded now or later, whose real path matches a glob in which "*"
// matches "/" too. If several patterns match, the one that was added last decides.
void WatchLibrary(const char* pattern, uint32_t layer);

// Looks for libraries loaded since the last time. Returns those that are watched and new; they are
// never unloaded from then on. Costs a microsecond when nothing was loaded.
std::vector<WatchedRange*> RefreshWatchedCode();

// The watched library that holds an address, or null.
WatchedRange* FindWatched(const void* address);

// Whether the type is a PyHeapTypeObject. Cython lends the flag of those to its static types while
// they are made ready.
inline bool IsHeapType(PyTypeObject* type) {
  return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && FindWatched(type) == nullptr;
}

// All of them.
std::vector<WatchedRange*> WatchedLibraries();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_WATCHED_CODE_H_
