#include "python/runtime_module/results.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "native_calls/owned.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

constexpr Py_ssize_t kMostItems = 16;  // of one tuple, list or dictionary
constexpr int kMostOfCall = 32;
constexpr int kMost = 64;

struct Made {
  const PyObject* array;
  PyObject* reference;
  const CompiledSlot* maker;
};
// The last ones of all threads, in a ring. No Python code runs while the mutex is held.
Made made[kMost];
uint32_t next_made = 0;
std::mutex mutex;

__thread const CompiledSlot* last_maker = nullptr;

// Calls visit(item) for the first items of a tuple, list or dictionary. False: it is none of them.
template <class Visit>
bool ForEachItem(PyObject* object, Py_ssize_t most, Visit visit) {
  if (PyDict_Check(object)) {
    PyObject* value;
    Py_ssize_t position = 0;
    while (most-- > 0 && PyDict_Next(object, &position, nullptr, &value)) visit(value);
    return true;
  }
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  const Py_ssize_t count = std::min(most, PySequence_Fast_GET_SIZE(object));
  for (Py_ssize_t i = 0; i < count; i++) visit(PySequence_Fast_GET_ITEM(object, i));
  return true;
}

struct Arrays {
  PyObject* of_call[kMostOfCall];  // borrowed
  int count = 0;

  // Those that are exactly so deep in tuples and the like.
  void Add(PyObject* item, int depth) {
    const Py_ssize_t most = depth > 0 ? kMostItems : 0;
    if (ForEachItem(item, most, [&](PyObject* each) { Add(each, depth - 1); })) return;
    if (depth != 0 || count == kMostOfCall) return;
    if (PyType_SUPPORTS_WEAKREFS(Py_TYPE(item))) of_call[count++] = item;
  }
};

// The array is alive only if the reference has it.
bool Has(PyObject* reference, const PyObject* array) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* there = nullptr;
  PyWeakref_GetRef(reference, &there);
  const Owned held(there);
  return there == array;
#else
  return PyWeakref_GET_OBJECT(reference) == array;
#endif
}

const CompiledSlot* Find(const PyObject* array) {
  PyObject* reference = nullptr;
  const CompiledSlot* maker = nullptr;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    for (uint32_t i = 1; i <= kMost && reference == nullptr; i++) {
      const Made& each = made[(next_made - i) % kMost];
      if (each.array != array || each.reference == nullptr) continue;
      reference = Py_NewRef(each.reference);
      maker = each.maker;
    }
  }
  const Owned held(reference);
  return reference != nullptr && Has(reference, array) ? maker : nullptr;
}

// Of a tuple, list or dictionary, without asking a class of the program.
Py_ssize_t SizeOf(PyObject* items) {
  return PyDict_Check(items) ? PyDict_GET_SIZE(items) : PySequence_Fast_GET_SIZE(items);
}

// The same two depths as those that NoteResult() looks at. False: something else is among them.
bool CountsOwn(PyObject* item, int depth, const CompiledSlot* maker, int* count) {
  bool all = true;
  if (ForEachItem(item, kMostItems, [&](PyObject* each) {
        all = all && depth < 2 && CountsOwn(each, depth + 1, maker, count);
      })) {
    return all && SizeOf(item) <= kMostItems;
  }
  ++*count;
  return Find(item) == maker;
}

}  // namespace

bool IsGivenOwnResults(const Arguments& call, const CompiledSlot* maker) {
  const Py_ssize_t named = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  const Py_ssize_t given = PyVectorcall_NARGS(call.flagged_count) + named;
  int count = 0;
  for (Py_ssize_t i = 0; i < given; i++) {
    if (!CountsOwn(call.values[i], /*depth=*/0, maker, &count)) return false;
  }
  return count > 0;
}

void NoteResult(PyObject* result, const CompiledSlot* maker) {
  last_maker = maker;
  if (result == nullptr) return;
  Arrays arrays;
  for (int depth = 0; depth <= 2; depth++) arrays.Add(result, depth);
  for (int i = 0; i < arrays.count; i++) {
    PyObject* old = PyWeakref_NewRef(arrays.of_call[i], nullptr);
    if (old == nullptr) {
      PyErr_Clear();
      continue;
    }
    {
      const std::lock_guard<std::mutex> guard(mutex);
      Made& slot = made[next_made++ % kMost];
      std::swap(old, slot.reference);
      slot.array = arrays.of_call[i];
      slot.maker = maker;
    }
    Py_XDECREF(old);
  }
}

const CompiledSlot* MakerOf(PyObject* arrays) {
  const CompiledSlot* maker = nullptr;
  if (arrays != nullptr && !ForEachItem(arrays, kMostItems, [&](PyObject* each) {
        maker = maker == nullptr ? Find(each) : maker;
      })) {
    maker = Find(arrays);
  }
  return maker != nullptr ? maker : last_maker;
}

}  // namespace rlscope::python
