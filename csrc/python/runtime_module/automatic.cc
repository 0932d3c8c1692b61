#include "python/runtime_module/automatic.h"

#include <dlfcn.h>

#include <iterator>

#include "python/runtime_module/automatic_calls.h"
#include "python/runtime_module/automatic_events.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/class_statements.h"
#include "python/runtime_module/compiled.h"
#include "python/runtime_module/conversions.h"
#include "python/runtime_module/module_state.h"
#include "python/runtime_module/own_environments.h"
#include "python/runtime_module/precision.h"
#include "python/runtime_module/rewards.h"
#include "python/runtime_module/stand_in.h"
#include "python/runtime_module/token_count.h"
#include "python/runtime_module/vectorcall.h"

namespace rlscope::python {

namespace {

constexpr const char* event_names[] = {
#define RLSCOPE_AUTOMATIC_EVENT(event, name) name,
    RLSCOPE_AUTOMATIC_EVENTS(RLSCOPE_AUTOMATIC_EVENT)
#undef RLSCOPE_AUTOMATIC_EVENT
};

// False with a Python error set: no such event.
bool FindEvent(PyObject* name, Event* event) {
  for (size_t number = 0; PyUnicode_Check(name) && number < std::size(event_names); number++) {
    if (PyUnicode_CompareWithASCIIString(name, event_names[number]) != 0) continue;
    *event = static_cast<Event>(number);
    return true;
  }
  PyErr_Format(PyExc_ValueError, "no such event: %R", name);
  return false;
}

bool TakesTwo(Py_ssize_t count) {
  if (count == 2) return true;
  PyErr_SetString(PyExc_TypeError, "takes an event and a function");
  return false;
}

// A method of environments stays one, and a mixin's counts for them.
bool IsWatched(vectorcallfunc vectorcall, Event event) {
  if (vectorcall == CallInPlace(event)) return true;
  const bool simulates =
      vectorcall == CallInPlace(Event::kSimulation) || vectorcall == CallInPlace(Event::kMixin);
  return simulates && (event == Event::kSimulation || event == Event::kMixin);
}

// What is no function of Python.
bool WatchCode(Event event, PyObject* callable) {
  switch (event) {
    case Event::kConversion:
      return WatchConversion(callable, Converts::kObservation);
    case Event::kMaking:
      return WatchConversion(callable, Converts::kAnything);
    case Event::kOutput:
      return WatchConversion(callable, Converts::kOutput);
    case Event::kValue:
      return WatchConversion(callable, Converts::kValue);
    case Event::kDraw:
      return WatchConversion(callable, Converts::kDraw);
    case Event::kChange:
      return WatchConversion(callable, Converts::kChange);
    default:
      return false;
  }
}

// watch_in_place(event, function).
PyObject* WatchInPlace(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  Event event;
  if (!TakesTwo(count) || !FindEvent(arguments[0], &event)) return nullptr;
  if (!PyFunction_Check(arguments[1])) {
    return PyBool_FromLong(WatchCode(event, arguments[1]));
  }
  const auto* function = reinterpret_cast<PyFunctionObject*>(arguments[1]);
  if (IsWatched(function->vectorcall, event)) Py_RETURN_TRUE;
  // Another event's, or changed by somebody else.
  if (function->vectorcall != plain_vectorcall) Py_RETURN_FALSE;
  SetVectorcall(arguments[1], CallInPlace(event));
  Py_RETURN_TRUE;
}

PyTypeObject* AsType(PyObject* type) { return reinterpret_cast<PyTypeObject*>(type); }

PyTypeObject* stand_in_type = nullptr;  // of the main interpreter, the only one that has hooks

// watch(event, function).
PyObject* Watch(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  Event event;
  if (!TakesTwo(count) || !FindEvent(arguments[0], &event)) return nullptr;
  if (!PyCallable_Check(arguments[1]) || stand_in_type == nullptr) {
    PyErr_SetString(PyExc_TypeError, "takes an event and a function, after watch_imports()");
    return nullptr;
  }
  if (Py_TYPE(arguments[1]) == stand_in_type) return Py_NewRef(arguments[1]);
  return NewStandIn(stand_in_type, CallThroughObject(event), arguments[1]);
}

// watch_mixins(root).
PyObject* WatchMixins(PyObject*, PyObject* root) {
  if (PyType_Check(root)) return PyBool_FromLong(AddEnvironments(AsType(root)));
  PyErr_SetString(PyExc_TypeError, "takes a class");
  return nullptr;
}

// find_environments(finder, told, is_transition).
PyObject* FindEnvironments(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const bool are_functions = count == 3 && PyCallable_Check(arguments[0]) &&
                             PyCallable_Check(arguments[1]) && PyCallable_Check(arguments[2]);
  if (!are_functions) {
    PyErr_SetString(PyExc_TypeError, "takes three functions");
    return nullptr;
  }
  SetEnvironmentFinder(arguments[0], arguments[1], arguments[2]);
  Py_RETURN_NONE;
}

// The pointer of every function, taken from an untouched one.
bool FindPlainVectorcall(PyObject* function) {
  if (plain_vectorcall != nullptr) return true;
  if (!PyFunction_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "takes a dictionary and a Python function");
    return false;
  }
  plain_vectorcall = reinterpret_cast<PyFunctionObject*>(function)->vectorcall;
  return true;
}

// watch_imports(handlers, plain). Types and handlers live as long as the process: what was hooked
// stays so.
PyObject* WatchImports(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyDict_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "takes a dictionary and a Python function");
    return nullptr;
  }
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) Py_RETURN_FALSE;
  if (!FindPlainVectorcall(arguments[1])) return nullptr;
  if (stand_in_type == nullptr) {
    PyObject* type = NewStandInType(module);
    if (type == nullptr) return nullptr;
    stand_in_type = AsType(type);
  }
  import_handlers = Py_NewRef(arguments[0]);
  StartTracks(StateOf(Py_NewRef(module)));
  Py_RETURN_TRUE;
}

// ask_gradients(path): c10::GradMode::is_enabled() of a libc10.so that is loaded. 2 ns, where the
// Python function takes 30 and would be a native call of the program.
PyObject* AskGradientsOf(PyObject*, PyObject* path) {
  PyObject* bytes = nullptr;
  if (!PyUnicode_FSConverter(path, &bytes)) return nullptr;
  void* library = dlopen(PyBytes_AS_STRING(bytes), RTLD_LAZY | RTLD_NOLOAD);
  Py_DECREF(bytes);
  void* enabled = library == nullptr ? nullptr : dlsym(library, "_ZN3c108GradMode10is_enabledEv");
  AskGradients(reinterpret_cast<bool (*)()>(enabled));
  return PyBool_FromLong(enabled != nullptr);
}

// has_learned(): whether the process has made an update.
PyObject* HasLearned(PyObject*, PyObject*) { return PyBool_FromLong(CountedSteps() != 0); }

// called_networks(): how many F there were.
PyObject* CalledNetworks(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(CountedForwards());
}

PyCFunction Fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef module_functions[] = {
    {"watch", Fast(Watch), METH_FASTCALL, nullptr},
    {"watch_in_place", Fast(WatchInPlace), METH_FASTCALL, nullptr},
    {"watch_mixins", WatchMixins, METH_O, nullptr},
    {"find_environments", Fast(FindEnvironments), METH_FASTCALL, nullptr},
    {"watch_compiled", WatchCompiledFunction, METH_O, nullptr},
    {"watch_waiting", WatchWaitingFunction, METH_O, nullptr},
    {"watch_classes", Fast(WatchClasses), METH_FASTCALL, nullptr},
    {"watch_imports", Fast(WatchImports), METH_FASTCALL, nullptr},
    {"ask_gradients", AskGradientsOf, METH_O, nullptr},
    {"has_learned", HasLearned, METH_NOARGS, nullptr},
    {"called_networks", CalledNetworks, METH_NOARGS, nullptr},
    {"count_tokens", CountTokens, METH_O, nullptr},
    {"written_tokens", WrittenTokens, METH_NOARGS, nullptr},
    {"returned_rewards", ReturnedRewards, METH_NOARGS, nullptr},
    {"given_precisions", GivenPrecisions, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int AddAutomatic(PyObject* module) { return PyModule_AddFunctions(module, module_functions); }

}  // namespace rlscope::python
