#include "python/runtime_compiled.h"

#include <mutex>

#include "interception/owned.h"
#include "python/runtime_automatic_track.h"
#include "python/runtime_module.h"
#include "runtime/rlscope.h"
#include "trace/shared_pages.h"

namespace rlscope::python {

namespace {

using interception::Owned;

// What is known of an object whose pointer was replaced, found by its address. A slot is never
// given up: of an object that died it serves the next one that is made at its address, which is
// watched anew before anybody calls it.
struct Slot {
  PyObject* function;  // borrowed, and not to be touched: only its address counts
  vectorcallfunc call;
  uint32_t name;  // 0: not asked for yet
};
constexpr size_t kSlots = 1 << 14;  // a program compiles some hundred functions
Slot slots[kSlots];                 // open addressing, at most half full; pages are zero until used
size_t used = 0;
std::mutex mutex;  // of those who add; whoever looks needs none

// The slot of the object, or the free one where it belongs.
Slot* Find(const PyObject* function) {
  const uint64_t hash = reinterpret_cast<uintptr_t>(function) * 0x9e3779b97f4a7c15u;  // Fibonacci
  for (size_t i = hash >> 50;; i = (i + 1) % kSlots) {
    PyObject* there = __atomic_load_n(&slots[i].function, __ATOMIC_ACQUIRE);
    if (there == function || there == nullptr) return &slots[i];
  }
}
static_assert(kSlots == size_t{1} << (64 - 50));

PyObject* Call(PyObject* function, PyObject* const* arguments, size_t flagged_count,
               PyObject* keywords) {
  Track* track = &own_track;
  const Slot* slot = Find(function);
  track->EnterCompiled(function);
  PyObject* result = slot->call(function, arguments, flagged_count, keywords);
  track->LeaveCompiled();
  return result;
}

vectorcallfunc* PointerOf(PyObject* function) {
  PyTypeObject* type = Py_TYPE(function);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL)) return nullptr;
  if (PyFunction_Check(function) || type->tp_vectorcall_offset <= 0) return nullptr;
  return reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function) +
                                           type->tp_vectorcall_offset);
}

bool AddSlot(PyObject* function, vectorcallfunc call) {
  const std::lock_guard<std::mutex> guard(mutex);
  Slot* slot = Find(function);
  if (slot->function == nullptr) {
    if (used == kSlots / 2) return false;
    ++used;
  }
  slot->call = call;
  __atomic_store_n(&slot->name, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->function, function, __ATOMIC_RELEASE);
  return true;
}

uint32_t AskName(PyObject* function) {
  const interception::ErrorAside aside;
  const Owned own(PyObject_GetAttrString(function, "__name__"));
  if (!own || !PyUnicode_Check(own.get())) return 0;
  const Owned name(PyUnicode_FromFormat("compiled:%U", own.get()));
  if (!name) return 0;
  const NameText text(name.get());
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kOperationName);
  return rlscope_intern_name(kind, 0, text.data(), text.size());
}

}  // namespace

uint32_t NameOfCompiled(PyObject* function) {
  if (function == nullptr) return 0;
  const vectorcallfunc* pointer = PointerOf(function);
  if (pointer == nullptr || *pointer != Call) return AskName(function);
  Slot* slot = Find(function);
  uint32_t name = __atomic_load_n(&slot->name, __ATOMIC_RELAXED);
  if (name == 0) {
    name = AskName(function);
    __atomic_store_n(&slot->name, name, __ATOMIC_RELAXED);
  }
  return name;
}

bool WatchCompiled(PyObject* function) {
  vectorcallfunc* pointer = PointerOf(function);
  if (pointer == nullptr || *pointer == nullptr) return false;
  if (*pointer == Call) return true;
  if (!AddSlot(function, *pointer)) return false;
  *pointer = Call;
  return true;
}

PyObject* WatchCompiledFunction(PyObject*, PyObject* function) {
  return PyBool_FromLong(WatchCompiled(function));
}

}  // namespace rlscope::python
