#include "python/runtime_module/monitored_callees.h"

#include <string>

#include "native_calls/callee_names.h"
#include "native_calls/pointers.h"
#include "native_calls/watched_code.h"
#include "runtime/rlscope.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {
namespace {

using native_calls::Holder;
using native_calls::WatchedRange;

// A callable as far as it concerns us.
struct Callee {
  PyObject* object;             // unwrapped, borrowed
  const WatchedRange* library;  // null: not watched
  const void* code;
  const void* key;  // the same for every call of the function; null: its name cannot be kept
  Holder holder = Holder::kNothing;
};

const void* CodePointer(void* const* location) {
  return location == nullptr ? nullptr : __atomic_load_n(location, __ATOMIC_RELAXED);
}

template <typename Function>
const void* Address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

// The code that makes an object of the type. A class written in Python on top of a native one has
// an __init__ of its own, whose time would not be native: then it is none of ours.
const void* ConstructorOf(const PyTypeObject* type) {
  const WatchedRange* init = native_calls::FindWatched(Address(type->tp_init));
  if (init == nullptr && type->tp_init != PyBaseObject_Type.tp_init) return nullptr;
  if (native_calls::FindWatched(Address(type->tp_new)) != nullptr) return Address(type->tp_new);
  return init == nullptr ? nullptr : Address(type->tp_init);
}

Callee OfType(PyTypeObject* type) {
  const void* code = ConstructorOf(type);
  return {reinterpret_cast<PyObject*>(type), native_calls::FindWatched(code), code, type};
}

// Methods in a type's namespace live as long as the type does, as the definitions of builtin
// functions do. Any other object with a vectorcall pointer may be a bound method that is made for
// one call, and its place belongs to the next one's afterwards.
bool IsLasting(PyObject* object, Holder holder) {
  return holder != Holder::kVectorcall ||
         PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_METHOD_DESCRIPTOR);
}

Callee OfObject(PyObject* object) {
  const Holder holder = native_calls::HolderOf(object);
  if (holder != Holder::kNothing) {
    void* const* location = native_calls::PointersOf(object, holder).location[0];
    const void* code = CodePointer(location);
    return {object, native_calls::FindWatched(code), code,
            IsLasting(object, holder) ? location : nullptr, holder};
  }
  const void* code = Address(Py_TYPE(object)->tp_call);
  return {object, native_calls::FindWatched(code), code, Py_TYPE(object)};
}

std::string NameOf(const Callee& callee) {
  if (callee.holder != Holder::kNothing) {
    return native_calls::NameOfCallable(callee.object, callee.holder, {}, *callee.library);
  }
  PyTypeObject* type = PyType_Check(callee.object) ? reinterpret_cast<PyTypeObject*>(callee.object)
                                                   : Py_TYPE(callee.object);
  return native_calls::NameOfType(type, *callee.library);
}

uint32_t MakeWordOf(const Callee& callee) {
  const std::string name = NameOf(callee);
  if (PyErr_Occurred()) PyErr_Clear();
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kFunctionName);
  const uint32_t id = rlscope_intern_name(kind, callee.library->layer, name.data(), name.size());
  return id == 0 ? 0 : trace::MakeWord(trace::kCall, id, 0);
}

}  // namespace

uint32_t MonitoredCallees::WordOf(PyObject* callable) {
  PyObject* object = native_calls::Unwrap(callable);
  const Callee callee =
      PyType_Check(object) ? OfType(reinterpret_cast<PyTypeObject*>(object)) : OfObject(object);
  if (callee.library == nullptr) return 0;
  if (callee.key == nullptr) return MakeWordOf(callee);
  const auto found = known_.find(callee.key);
  if (found != known_.end() && found->second.code == callee.code) return found->second.word;
  const uint32_t word = MakeWordOf(callee);
  if (word != 0) known_[callee.key] = {callee.code, word};
  return word;
}

}  // namespace rlscope::python
