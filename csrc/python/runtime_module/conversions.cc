#include "python/runtime_module/conversions.h"

#include <stddef.h>
#include <string.h>

#include "native_calls/owned.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

constexpr int kTakesTuple = METH_VARARGS | METH_KEYWORDS;

// As an interpreter's vectorcall pointer, which all callables of one kind have alike. Cython has
// one in each extension module: those of numpy.random are two.
enum class Kind {
  kWithoutPointer,
  kMethodOfTuple,
  kMethodOfNone,
  kFunctionOfOne,
  kOfCython,
  kOfOtherCython
};

vectorcallfunc method_of_tuple = nullptr;
vectorcallfunc method_of_none = nullptr;
vectorcallfunc function_of_one = nullptr;
vectorcallfunc of_cython = nullptr;
vectorcallfunc of_other_cython = nullptr;

// As the interpreter calls what has no vectorcall pointer: with a tuple and a dictionary.
PyObject* CallWithTuple(PyObject* callable, PyObject* const* arguments, size_t flagged_count,
                        PyObject* keywords) {
  const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
  const Owned tuple(PyTuple_New(count));
  if (!tuple) return nullptr;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(arguments[i]));
  }
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  const Owned dictionary(named == 0 ? nullptr : PyDict_New());
  if (named != 0 && !dictionary) return nullptr;
  for (Py_ssize_t i = 0; i < named; i++) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    if (PyDict_SetItem(dictionary.get(), name, arguments[count + i]) != 0) return nullptr;
  }
  return Py_TYPE(callable)->tp_call(callable, tuple.get(), dictionary.get());
}

template <Kind kind>
vectorcallfunc Original() {
  if constexpr (kind == Kind::kMethodOfTuple) return method_of_tuple;
  if constexpr (kind == Kind::kMethodOfNone) return method_of_none;
  if constexpr (kind == Kind::kFunctionOfOne) return function_of_one;
  if constexpr (kind == Kind::kOfCython) return of_cython;
  if constexpr (kind == Kind::kOfOtherCython) return of_other_cython;
  return CallWithTuple;
}

template <Kind kind, Converts converts>
PyObject* Call(PyObject* callable, PyObject* const* arguments, size_t flagged_count,
               PyObject* keywords) {
  Track* track = &own_track;
  PyObject* first = PyVectorcall_NARGS(flagged_count) > 0 ? arguments[0] : nullptr;
  const auto call = [&] { return Original<kind>()(callable, arguments, flagged_count, keywords); };
  if constexpr (converts == Converts::kAnything) return CallMaking(track, first, call);
  if constexpr (converts == Converts::kOutput) {
    track->EnterOutput();
    PyObject* result = call();
    track->LeaveOutput();
    return result;
  }
  if constexpr (converts == Converts::kValue) {
    track->EnterValue();
    PyObject* result = call();
    track->LeaveValue();
    return result;
  }
  if constexpr (converts == Converts::kDraw) {
    track->EnterDraw();
    PyObject* result = call();
    track->LeaveDraw(result);
    return result;
  }
  if constexpr (converts == Converts::kChange) {
    PyObject* result = call();
    NoteChange(track, arguments, flagged_count);
    return result;
  }
  return CallConversion(track, first, call);
}

bool Replace(vectorcallfunc* pointer, vectorcallfunc expected, vectorcallfunc call) {
  if (*pointer == call) return true;
  if (*pointer != expected) return false;
  *pointer = call;
  return true;
}

// `original` is what the first one of its kind had.
template <Kind kind, Converts converts>
bool ReplaceAlike(vectorcallfunc* pointer, vectorcallfunc* original) {
  if (*original == nullptr) *original = *pointer;
  return *original != nullptr && Replace(pointer, *original, Call<kind, converts>);
}

template <Converts converts>
bool WatchMethod(PyMethodDescrObject* method) {
  const int flags = method->d_method->ml_flags;
  if (flags == METH_NOARGS) {
    return ReplaceAlike<Kind::kMethodOfNone, converts>(&method->vectorcall, &method_of_none);
  }
  if (flags != kTakesTuple) return false;
  return ReplaceAlike<Kind::kMethodOfTuple, converts>(&method->vectorcall, &method_of_tuple);
}

template <Converts converts>
bool WatchFunction(PyCFunctionObject* function) {
  const int flags = function->m_ml->ml_flags;
  if ((flags & METH_O) != 0) {
    return ReplaceAlike<Kind::kFunctionOfOne, converts>(&function->vectorcall, &function_of_one);
  }
  if ((flags & kTakesTuple) != kTakesTuple) return false;
  return Replace(&function->vectorcall, nullptr, Call<Kind::kWithoutPointer, converts>);
}

template <Converts converts>
bool WatchType(PyTypeObject* type) {
  const PyTypeObject* meta = Py_TYPE(type);
  const bool looks = PyType_HasFeature(const_cast<PyTypeObject*>(meta), Py_TPFLAGS_HAVE_VECTORCALL);
  const bool there = meta->tp_vectorcall_offset == offsetof(PyTypeObject, tp_vectorcall);
  return looks && there &&
         Replace(&type->tp_vectorcall, nullptr, Call<Kind::kWithoutPointer, converts>);
}

// A function of a module, or a method, that takes keywords: where its pointer lies its type says.
template <Converts converts>
bool WatchCython(PyObject* callable) {
  const PyTypeObject* type = Py_TYPE(callable);
  if (strstr(type->tp_name, "cython_function_or_method") == nullptr) return false;
  if (!PyType_HasFeature(Py_TYPE(callable), Py_TPFLAGS_HAVE_VECTORCALL)) return false;
  auto* pointer = reinterpret_cast<vectorcallfunc*>(reinterpret_cast<char*>(callable) +
                                                    type->tp_vectorcall_offset);
  return ReplaceAlike<Kind::kOfCython, converts>(pointer, &of_cython) ||
         ReplaceAlike<Kind::kOfOtherCython, converts>(pointer, &of_other_cython);
}

template <Converts converts>
bool WatchCallable(PyObject* callable) {
  if (PyCFunction_CheckExact(callable)) {
    return WatchFunction<converts>(reinterpret_cast<PyCFunctionObject*>(callable));
  }
  if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
    return WatchMethod<converts>(reinterpret_cast<PyMethodDescrObject*>(callable));
  }
  if (!PyType_Check(callable)) return WatchCython<converts>(callable);
  return WatchType<converts>(reinterpret_cast<PyTypeObject*>(callable));
}

}  // namespace

bool WatchConversion(PyObject* callable, Converts converts) {
  switch (converts) {
    case Converts::kObservation:
      return WatchCallable<Converts::kObservation>(callable);
    case Converts::kAnything:
      return WatchCallable<Converts::kAnything>(callable);
    case Converts::kOutput:
      return WatchCallable<Converts::kOutput>(callable);
    case Converts::kValue:
      return WatchCallable<Converts::kValue>(callable);
    case Converts::kDraw:
      return WatchCallable<Converts::kDraw>(callable);
    case Converts::kChange:
      return WatchCallable<Converts::kChange>(callable);
  }
  return false;
}

}  // namespace rlscope::python
