#include "python/runtime_module/class_statements.h"

#include <string.h>

#include "native_calls/call.h"
#include "native_calls/owned.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

// They belong to the main interpreter, for ever.
vectorcallfunc plain_build = nullptr;
PyObject* wanted_words = nullptr;  // tuples of strings
PyObject* wanted_methods = nullptr;
PyObject* class_handler = nullptr;

bool HasWord(PyObject* type) {
  const char* name = reinterpret_cast<PyTypeObject*>(type)->tp_name;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(wanted_words); i++) {
    const char* word = PyUnicode_AsUTF8(PyTuple_GET_ITEM(wanted_words, i));
    if (word != nullptr && strcasestr(name, word) != nullptr) return true;
  }
  return false;
}

bool HasMethods(PyObject* type) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(wanted_methods); i++) {
    PyObject* name = PyTuple_GET_ITEM(wanted_methods, i);
    if (_PyType_Lookup(reinterpret_cast<PyTypeObject*>(type), name) == nullptr) return false;
  }
  return true;
}

// Whether the class has the methods, or the class or one above it a name with such a word.
bool IsWanted(PyObject* made) {
  if (!PyType_Check(made)) return false;
  if (HasMethods(made)) return true;
  PyObject* order = reinterpret_cast<PyTypeObject*>(made)->tp_mro;
  for (Py_ssize_t i = 0; order != nullptr && i < PyTuple_GET_SIZE(order); i++) {
    if (PyType_Check(PyTuple_GET_ITEM(order, i)) && HasWord(PyTuple_GET_ITEM(order, i)))
      return true;
  }
  return false;
}

PyObject* BuildClass(PyObject* function, PyObject* const* arguments, size_t flagged_count,
                     PyObject* keywords) {
  PyObject* made = plain_build(function, arguments, flagged_count, keywords);
  if (made == nullptr) return nullptr;
  if (IsWanted(made)) {
    const Owned done(PyObject_CallOneArg(class_handler, made));
  }
  native_calls::DropError();  // the program does not see a failure
  return made;
}

bool AreStrings(PyObject* words) {
  if (!PyTuple_Check(words)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words); i++) {
    if (!PyUnicode_Check(PyTuple_GET_ITEM(words, i))) return false;
  }
  return true;
}

// Whether class statements come here from now on.
bool ReplaceBuild() {
  const Owned builtins(PyImport_ImportModule("builtins"));
  const Owned build(builtins ? PyObject_GetAttrString(builtins.get(), "__build_class__") : nullptr);
  native_calls::DropError();
  if (!build || !PyCFunction_CheckExact(build.get())) return false;
  vectorcallfunc* pointer = &reinterpret_cast<PyCFunctionObject*>(build.get())->vectorcall;
  if (*pointer == BuildClass) return true;
  if (*pointer == nullptr) return false;
  plain_build = *pointer;
  *pointer = BuildClass;
  return true;
}

}  // namespace

PyObject* WatchClasses(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3 || !AreStrings(arguments[0]) || !AreStrings(arguments[1]) ||
      !PyCallable_Check(arguments[2])) {
    PyErr_SetString(PyExc_TypeError, "takes two tuples of strings and a function");
    return nullptr;
  }
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) Py_RETURN_FALSE;
  if (class_handler != nullptr) Py_RETURN_TRUE;
  wanted_words = Py_NewRef(arguments[0]);
  wanted_methods = Py_NewRef(arguments[1]);
  class_handler = Py_NewRef(arguments[2]);
  return PyBool_FromLong(ReplaceBuild());
}

}  // namespace rlscope::python
