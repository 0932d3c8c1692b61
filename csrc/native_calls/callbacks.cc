#define PY_SSIZE_T_CLEAN
#include "native_calls/callbacks.h"

#include <Python.h>
#include <stdarg.h>

#include "native_calls/callback_scope.h"
#include "native_calls/frames.h"
#include "native_calls/owned.h"
#include "native_calls/pointers.h"
#include "native_calls/stub_pool.h"
#include "runtime/rlscope.h"

// Before 3.13 the interpreter has two of each function that takes a format: lengths are int in the
// one and Py_ssize_t in the other, and PY_SSIZE_T_CLEAN renames the first to the second.
#undef Py_VaBuildValue
extern "C" PyObject* Py_VaBuildValue(const char* format, va_list arguments);
#if PY_VERSION_HEX < 0x030D0000
extern "C" PyObject* _Py_VaBuildValue_SizeT(const char* format, va_list arguments);
#endif

namespace rlscope::native_calls {
namespace {

// A thread of the library's own that attached to the interpreter (CUDA's autograd threads, XLA's
// host callbacks) has no Python frame below the callback.
bool HasNoFrame() {
#if PY_VERSION_HEX >= 0x030D0000
  const PyThreadState* thread = PyThreadState_GetUnchecked();
#else
  const PyThreadState* thread = _PyThreadState_UncheckedGet();
#endif
  return thread != nullptr && !HasFrame(thread);
}

bool EntersFromOutside() {
  if (rlscope_self.call != 0 || !HasNoFrame()) return false;
  rlscope_begin_native_thread();
  return true;
}

// Native code that calls native code of a watched library, by way of the interpreter, stays where
// it is: no Python runs in between.
bool LeadsToStub(PyObject* callable) {
  if (callable == nullptr) return false;
  void** location = PointersOf(callable, HolderOf(callable)).location[0];
  return location != nullptr && IsStub(*location);
}

// ---- functions that take a callable, and those that run code whatever they take ----------------

template <auto kOriginal>
struct CallsCallable;
template <typename... More, PyObject* (*kOriginal)(PyObject*, More...)>
struct CallsCallable<kOriginal> {
  static PyObject* Hook(PyObject* callable, More... more) {
    if (LeadsToStub(callable)) return kOriginal(callable, more...);
    CallbackScope scope(EntersFromOutside());
    return kOriginal(callable, more...);
  }
};

template <auto kOriginal>
struct RunsCode;
template <typename... All, PyObject* (*kOriginal)(All...)>
struct RunsCode<kOriginal> {
  static PyObject* Hook(All... all) {
    CallbackScope scope(EntersFromOutside());
    return kOriginal(all...);
  }
};

#if PY_VERSION_HEX < 0x030D0000
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
PyObject* CallObjectWithKeywords(PyObject* callable, PyObject* arguments, PyObject* keywords) {
  if (LeadsToStub(callable)) return PyEval_CallObjectWithKeywords(callable, arguments, keywords);
  CallbackScope scope(EntersFromOutside());
  return PyEval_CallObjectWithKeywords(callable, arguments, keywords);
}
#pragma GCC diagnostic pop
#endif

// ---- functions that run code if the type of what they take was written in Python ---------------

// A type slot of a Python class leads to a function of the interpreter that looks for the method:
// the same function for all classes.
struct PythonSlots {
  getiterfunc iter = nullptr;
  iternextfunc next = nullptr;
  binaryfunc subscript = nullptr;
  ssizeargfunc item = nullptr;
  lenfunc length = nullptr;
  inquiry truth = nullptr;
  reprfunc repr = nullptr;
  reprfunc str = nullptr;
};
PythonSlots python_slots;

constexpr const char* kSlotMethods[] = {"__iter__", "__next__", "__getitem__", "__len__",
                                        "__bool__", "__repr__", "__str__"};

// Calls type(), which runs no bytecode: a Ctrl-C that is pending stays the program's.
void LearnPythonSlots() {
  const ErrorAside aside;
  const Owned names(Py_BuildValue("{ss}", "__module__", "rlscope"));
  if (!names) return;
  for (const char* name : kSlotMethods) PyDict_SetItemString(names.get(), name, Py_None);
  auto* metatype = reinterpret_cast<PyObject*>(&PyType_Type);
  const Owned made(PyObject_CallFunction(metatype, "s()O", "C", names.get()));
  if (!made) return;
  auto* type = reinterpret_cast<PyTypeObject*>(made.get());
  python_slots = {type->tp_iter,
                  type->tp_iternext,
                  type->tp_as_mapping->mp_subscript,
                  type->tp_as_sequence->sq_item,
                  type->tp_as_sequence->sq_length,
                  type->tp_as_number->nb_bool,
                  type->tp_repr,
                  type->tp_str};
}

template <typename Slot>
bool IsPython(Slot slot, Slot python_slot) {
  return slot != nullptr && slot == python_slot;
}

bool NextIsPython(PyObject* object) {
  const iternextfunc next = Py_TYPE(object)->tp_iternext;
  return IsPython(next, python_slots.next) || IsPython(next, PyGen_Type.tp_iternext);
}
bool SubscriptIsPython(PyObject* object) {
  const PyMappingMethods* methods = Py_TYPE(object)->tp_as_mapping;
  return methods != nullptr && IsPython(methods->mp_subscript, python_slots.subscript);
}
bool ItemIsPython(PyObject* object) {
  const PySequenceMethods* methods = Py_TYPE(object)->tp_as_sequence;
  return methods != nullptr && IsPython(methods->sq_item, python_slots.item);
}
// An object without __iter__ is iterated over by its __getitem__.
bool IterationIsPython(PyObject* object) {
  const getiterfunc iter = Py_TYPE(object)->tp_iter;
  if (iter == nullptr) return ItemIsPython(object);
  return NextIsPython(object) || IsPython(iter, python_slots.iter);
}
bool LengthIsPython(PyObject* object) {
  const PySequenceMethods* methods = Py_TYPE(object)->tp_as_sequence;
  return methods != nullptr && IsPython(methods->sq_length, python_slots.length);
}
bool TruthIsPython(PyObject* object) {
  const PyNumberMethods* methods = Py_TYPE(object)->tp_as_number;
  return methods != nullptr && IsPython(methods->nb_bool, python_slots.truth);
}
bool ReprIsPython(PyObject* object) {
  return IsPython(Py_TYPE(object)->tp_repr, python_slots.repr);
}
bool StrIsPython(PyObject* object) {
  return IsPython(Py_TYPE(object)->tp_str, python_slots.str) || ReprIsPython(object);
}

template <auto kOriginal, bool (*kRuns)(PyObject*)>
struct MayRunCode;
template <typename Result, typename... More, Result (*kOriginal)(PyObject*, More...),
          bool (*kRuns)(PyObject*)>
struct MayRunCode<kOriginal, kRuns> {
  static Result Hook(PyObject* object, More... more) {
    if (rlscope_self.call == 0 || object == nullptr || !kRuns(object)) {
      return kOriginal(object, more...);
    }
    CallbackScope scope;
    return kOriginal(object, more...);
  }
};

// ---- variadic functions: what they take is gathered, as the interpreter itself does ------------

using BuildValue = PyObject* (*)(const char*, va_list);
constexpr BuildValue kBuildPlain = Py_VaBuildValue;
#if PY_VERSION_HEX < 0x030D0000
constexpr BuildValue kBuildClean = _Py_VaBuildValue_SizeT;
#else
constexpr BuildValue kBuildClean = Py_VaBuildValue;
#endif

// A tuple: of the values of the format, or the one value that is a tuple already.
PyObject* BuildArguments(BuildValue build, const char* format, va_list values) {
  if (format == nullptr || format[0] == '\0') return PyTuple_New(0);
  PyObject* built = build(format, values);
  if (built == nullptr || PyTuple_Check(built)) return built;
  PyObject* tuple = PyTuple_Pack(1, built);
  Py_DECREF(built);
  return tuple;
}

// The interpreter's error for a null argument.
PyObject* NullError() { return PyObject_CallFunctionObjArgs(nullptr, nullptr); }

PyObject* CallBuilt(PyObject* callable, BuildValue build, const char* format, va_list values) {
  const Owned arguments(BuildArguments(build, format, values));
  return arguments ? PyObject_Call(callable, arguments.get(), nullptr) : nullptr;
}

template <const BuildValue& kBuild>
PyObject* CallFunction(PyObject* callable, const char* format, ...) {
  if (callable == nullptr) return NullError();
  CallbackScope scope(EntersFromOutside());
  va_list values;
  va_start(values, format);
  PyObject* result = CallBuilt(callable, kBuild, format, values);
  va_end(values);
  return result;
}

PyObject* CallableAttribute(PyObject* object, const char* name) {
  PyObject* callable = PyObject_GetAttrString(object, name);
  if (callable == nullptr || PyCallable_Check(callable)) return callable;
  PyErr_Format(PyExc_TypeError, "attribute of type '%.200s' is not callable",
               Py_TYPE(callable)->tp_name);
  Py_DECREF(callable);
  return nullptr;
}

template <const BuildValue& kBuild>
PyObject* CallMethod(PyObject* object, const char* name, const char* format, ...) {
  if (object == nullptr || name == nullptr) return NullError();
  CallbackScope scope(EntersFromOutside());
  const Owned callable(CallableAttribute(object, name));
  if (!callable) return nullptr;
  va_list values;
  va_start(values, format);
  PyObject* result = CallBuilt(callable.get(), kBuild, format, values);
  va_end(values);
  return result;
}

// A first argument, if one is given, and then the others up to a null one.
class Gathered {
 public:
  Gathered(PyObject* first, va_list values) {
    if (first != nullptr) arguments_.push_back(first);
    while (PyObject* value = va_arg(values, PyObject*)) arguments_.push_back(value);
  }
  PyObject* const* data() const { return arguments_.data(); }
  size_t size() const { return arguments_.size(); }

 private:
  std::vector<PyObject*> arguments_;
};

PyObject* CallFunctionObjArgs(PyObject* callable, ...) {
  if (callable == nullptr) return NullError();
  va_list values;
  va_start(values, callable);
  const Gathered arguments(nullptr, values);
  va_end(values);
  return CallsCallable<PyObject_Vectorcall>::Hook(callable, arguments.data(), arguments.size(),
                                                  nullptr);
}

PyObject* CallMethodObjArgs(PyObject* object, PyObject* name, ...) {
  if (object == nullptr || name == nullptr) return NullError();
  va_list values;
  va_start(values, name);
  const Gathered arguments(object, values);
  va_end(values);
  return RunsCode<PyObject_VectorcallMethod>::Hook(name, arguments.data(), arguments.size(),
                                                   nullptr);
}

template <typename Function>
void* Address(Function* function) {
  return reinterpret_cast<void*>(function);
}

std::vector<ImportHook> MakeHooks() {
#define CALLABLE(name) {#name, Address(CallsCallable<name>::Hook)}
#define CODE(name) {#name, Address(RunsCode<name>::Hook)}
#define MAY(name, runs)                          \
  {                                              \
    #name, Address(MayRunCode<name, runs>::Hook) \
  }
  return {
      CALLABLE(PyObject_Call),
      CALLABLE(PyObject_CallObject),
      CALLABLE(PyObject_CallNoArgs),
      CALLABLE(PyObject_CallOneArg),
      CALLABLE(PyObject_Vectorcall),
      CALLABLE(PyObject_VectorcallDict),
      CODE(PyObject_VectorcallMethod),
      CODE(PyEval_EvalCode),
      CODE(PyRun_StringFlags),
      CODE(PyImport_Import),
      CODE(PyImport_ImportModule),
      CODE(PyImport_ImportModuleLevel),
      CODE(PyImport_ImportModuleLevelObject),
#if PY_VERSION_HEX < 0x030D0000
      {"PyEval_CallObjectWithKeywords", Address(CallObjectWithKeywords)},
      {"_PyObject_CallFunction_SizeT", Address(CallFunction<kBuildClean>)},
      {"_PyObject_CallMethod_SizeT", Address(CallMethod<kBuildClean>)},
#endif
      {"PyObject_CallFunction", Address(CallFunction<kBuildPlain>)},
      {"PyObject_CallMethod", Address(CallMethod<kBuildPlain>)},
      {"PyObject_CallFunctionObjArgs", Address(CallFunctionObjArgs)},
      {"PyObject_CallMethodObjArgs", Address(CallMethodObjArgs)},
      MAY(PyIter_Next, NextIsPython),
      MAY(PyObject_GetIter, IterationIsPython),
      MAY(PySequence_Fast, IterationIsPython),
      MAY(PySequence_List, IterationIsPython),
      MAY(PySequence_Tuple, IterationIsPython),
      MAY(PyObject_GetItem, SubscriptIsPython),
      MAY(PySequence_GetItem, ItemIsPython),
      MAY(PyObject_Size, LengthIsPython),
      MAY(PySequence_Size, LengthIsPython),
      MAY(PyObject_IsTrue, TruthIsPython),
      MAY(PyObject_Repr, ReprIsPython),
      MAY(PyObject_Str, StrIsPython),
  };
#undef CALLABLE
#undef CODE
#undef MAY
}

}  // namespace

const std::vector<ImportHook>& CallbackHooks() {
  static const auto* const hooks = [] {
    LearnPythonSlots();
    return new std::vector<ImportHook>(MakeHooks());
  }();
  return *hooks;
}

}  // namespace rlscope::native_calls
