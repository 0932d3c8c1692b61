#include "python/runtime_compiled.h"

#include <mutex>

#include "interception/owned.h"
#include "interception/pointers.h"
#include "python/runtime_automatic.h"
#include "python/runtime_automatic_track.h"
#include "python/runtime_module.h"
#include "runtime/rlscope.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

using interception::Owned;

// An object whose pointer was replaced, found by its address. A slot is never given up: of an
// object that died it serves the next one that is made at its address, which is watched anew before
// it is called.
struct Slot {
  PyObject* function;  // borrowed, and not to be touched: only its address counts
  vectorcallfunc call;
  uint32_t note;  // id of the name, 0: not asked for yet; of a function of PyTorch: Forwards
  uint32_t trains;
};
constexpr size_t kSlots = 1 << 14;  // a program compiles some hundred functions
Slot slots[kSlots];                 // open addressing, at most half full; pages are zero until used
size_t used = 0;
std::mutex mutex;  // of writers; a reader needs none

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

void** PointerBehindCall(PyObject* function) {
  return reinterpret_cast<void**>(&Find(function)->call);
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
  __atomic_store_n(&slot->note, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->trains, 0, __ATOMIC_RELAXED);
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

// ---- PyTorch ------------------------------------------------------------------------------------

// The findings of tracing about the forwards in a function; several may be.
enum Forwards : uint32_t {
  kAsCalled = 1,  // with the gradient mode that the function was called in
  kOff = 2,       // the function switches gradients off for them
  kOn = 4,        // or on
};

// The innermost call of a watched function on this thread. A slot lives for ever, so that nothing
// here dangles, whatever switches stacks.
struct TorchCall {
  Slot* slot;
  bool has_gradients;  // when it was called
};
__thread TorchCall torch_call = {nullptr, false};

PyObject* CallTorch(PyObject* function, PyObject* const* arguments, size_t flagged_count,
                    PyObject* keywords) {
  Track* track = &own_track;
  Slot* slot = Find(function);
  const TorchCall outer = torch_call;
  const bool has_gradients = HasGradients(/*if_unknown=*/true);
  torch_call = {slot, has_gradients};
  const uint32_t forwards = __atomic_load_n(&slot->note, __ATOMIC_RELAXED);
  track->EnterBlock(function);
  if (forwards != 0) {
    track->NoteForward((forwards & kOn) != 0 || ((forwards & kAsCalled) != 0 && has_gradients));
  }
  PyObject* result = plain_vectorcall(function, arguments, flagged_count, keywords);
  track->LeaveBlock(function);
  torch_call = outer;
  return result;
}

// The function whose calls are seen wherever they come from. CPython 3.11 does not tell of calls of
// the one that torch.compile() returns, but that calls the program's own function with *args.
// Module's own, which Module.compile() compiles, is inside a forward anyway.
Owned SeenFunction(PyObject* function) {
  if (!PyFunction_Check(function)) return Owned();
#if PY_VERSION_HEX >= 0x030C0000 || PY_VERSION_HEX < 0x030B0000
  return Owned(Py_NewRef(function));
#else
  const Owned own(PyObject_GetAttrString(function, "_torchdynamo_orig_callable"));
  PyObject* called = own.get();
  if (called != nullptr && PyMethod_Check(called)) called = PyMethod_GET_FUNCTION(called);
  if (called == nullptr || !PyFunction_Check(called)) return Owned();
  PyObject* module = PyFunction_GetModule(called);  // borrowed
  if (module != nullptr && PyUnicode_Check(module) &&
      PyUnicode_CompareWithASCIIString(module, "torch.nn.modules.module") == 0) {
    return Owned();
  }
  return Owned(Py_NewRef(called));
#endif
}

}  // namespace

void WatchTorchFunction(PyObject* function) {
  if (function == nullptr) return;
  const interception::ErrorAside aside;
  const Owned seen = SeenFunction(function);
  if (!seen) return;
  if (reinterpret_cast<PyFunctionObject*>(seen.get())->vectorcall != plain_vectorcall) return;
  if (AddSlot(seen.get(), plain_vectorcall)) SetVectorcall(seen.get(), CallTorch);
}

void NoteTracedModule() {
  if (torch_call.slot == nullptr) return;
  const bool has_gradients = HasGradients(/*if_unknown=*/true);
  const uint32_t forwards =
      has_gradients == torch_call.has_gradients ? kAsCalled : (has_gradients ? kOn : kOff);
  __atomic_fetch_or(&torch_call.slot->note, forwards, __ATOMIC_RELAXED);
  own_track.NoteForward(has_gradients);
}

uint32_t NameOfCompiled(PyObject* function) {
  if (function == nullptr) return 0;
  const vectorcallfunc* pointer = PointerOf(function);
  if (pointer == nullptr || *pointer != Call) return AskName(function);
  Slot* slot = Find(function);
  uint32_t name = __atomic_load_n(&slot->note, __ATOMIC_RELAXED);
  if (name == 0) {
    name = AskName(function);
    __atomic_store_n(&slot->note, name, __ATOMIC_RELAXED);
  }
  return name;
}

void NoteTraining(PyObject* function) {
  Slot* slot = Find(function);
  if (slot->function == nullptr && !AddSlot(function, nullptr)) return;
  __atomic_store_n(&Find(function)->trains, 1, __ATOMIC_RELAXED);
}

bool IsTraining(const PyObject* function) {
  return __atomic_load_n(&Find(function)->trains, __ATOMIC_RELAXED) != 0;
}

bool WatchCompiled(PyObject* function) {
  vectorcallfunc* pointer = PointerOf(function);
  if (pointer == nullptr || *pointer == nullptr) return false;
  if (*pointer == Call) return true;
  if (!AddSlot(function, *pointer)) return false;
  interception::SetVectorcallBehind(reinterpret_cast<void*>(Call), PointerBehindCall);
  *pointer = Call;
  return true;
}

PyObject* WatchCompiledFunction(PyObject*, PyObject* function) {
  return PyBool_FromLong(WatchCompiled(function));
}

}  // namespace rlscope::python
