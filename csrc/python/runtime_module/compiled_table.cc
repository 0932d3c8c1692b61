#include "python/runtime_module/compiled_table.h"

#include <mutex>

#include "native_calls/owned.h"
#include "native_calls/pointers.h"
#include "python/runtime_module/name_text.h"
#include "python/runtime_module/track_records.h"
#include "runtime/rlscope.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

size_t used = 0;
constexpr char kCompiledFormat[] = "compiled:%U";
std::mutex mutex;                      // of writers
vectorcallfunc replacement = nullptr;  // of ReplaceCall()

void** PointerBehindCall(PyObject* function) {
  return reinterpret_cast<void**>(&FindCompiled(function)->call);
}

vectorcallfunc* PointerOf(PyObject* function) {
  PyTypeObject* type = Py_TYPE(function);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL)) return nullptr;
  if (PyFunction_Check(function) || type->tp_vectorcall_offset <= 0) return nullptr;
  return reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(function) +
                                           type->tp_vectorcall_offset);
}

// `format`: with a place for the function's own name.
uint32_t AskName(PyObject* function, const char* format) {
  const native_calls::ErrorAside aside;
  const Owned own(PyObject_GetAttrString(function, "__name__"));
  if (!own || !PyUnicode_Check(own.get())) return 0;
  const Owned name(PyUnicode_FromFormat(format, own.get()));
  if (!name) return 0;
  const NameText text(name.get());
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kOperationName);
  return rlscope_intern_name(kind, 0, text.data(), text.size());
}

}  // namespace

bool AddCompiled(PyObject* function, vectorcallfunc call) {
  const std::lock_guard<std::mutex> guard(mutex);
  CompiledSlot* slot = FindCompiled(function);
  if (slot->function == nullptr) {
    if (used == kCompiledSlots / 2) return false;
    ++used;
  }
  slot->call = call;
  __atomic_store_n(&slot->note, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->trains, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->acts, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->waits, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->quiet, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->function, function, __ATOMIC_RELEASE);
  return true;
}

bool ReplaceCall(PyObject* function, vectorcallfunc call) {
  vectorcallfunc* pointer = PointerOf(function);
  if (pointer == nullptr || *pointer == nullptr) return false;
  if (*pointer == call) return true;
  if (!AddCompiled(function, *pointer)) return false;
  replacement = call;
  native_calls::SetVectorcallBehind(reinterpret_cast<void*>(call), PointerBehindCall);
  *pointer = call;
  return true;
}

uint32_t NameOfCompiled(PyObject* function) {
  if (function == nullptr) return 0;
  const vectorcallfunc* pointer = PointerOf(function);
  const bool is_watched = pointer != nullptr && *pointer != nullptr && *pointer == replacement;
  if (!is_watched) return AskName(function, kCompiledFormat);
  CompiledSlot* slot = FindCompiled(function);
  uint32_t name = __atomic_load_n(&slot->note, __ATOMIC_RELAXED);
  if (name == 0) {
    name = AskName(function, kCompiledFormat);
    __atomic_store_n(&slot->note, name, __ATOMIC_RELAXED);
  }
  return name;
}

void NoteTraining(PyObject* function) {
  CompiledSlot* slot = FindCompiled(function);
  if (slot->function == nullptr && !AddCompiled(function, nullptr)) return;
  slot = FindCompiled(function);
  if (__atomic_load_n(&slot->trains, __ATOMIC_RELAXED) != 0) return;
  uint32_t name = AskName(function, "update:%U");
  if (name == 0) name = NameOfOperation("update");
  __atomic_store_n(&slot->trains, name, __ATOMIC_RELAXED);
}

uint32_t NameOfTraining(const PyObject* function) {
  return __atomic_load_n(&FindCompiled(function)->trains, __ATOMIC_RELAXED);
}

void NoteReturned(PyObject* function, const PyObject* result) {
  if (function == nullptr || result == nullptr) return;
  const bool is_quiet = result == Py_None;
  CompiledSlot* slot = FindCompiled(function);
  if (slot->function == nullptr && (!is_quiet || !AddCompiled(function, nullptr))) return;
  slot = FindCompiled(function);
  __atomic_store_n(&slot->quiet, is_quiet ? 1 : 0, __ATOMIC_RELAXED);
}

bool IsQuiet(const PyObject* function) {
  const CompiledSlot* slot = FindCompiled(function);
  const bool is_quiet = __atomic_load_n(&slot->quiet, __ATOMIC_RELAXED) != 0;
  return is_quiet && __atomic_load_n(&slot->trains, __ATOMIC_RELAXED) == 0;
}

}  // namespace rlscope::python
