#include "native_calls/created_functions.h"

#include <string>

#include "native_calls/callee_names.h"
#include "native_calls/owned.h"
#include "native_calls/patch.h"
#include "native_calls/pointers.h"
#include "native_calls/scanner.h"
#include "native_calls/stub_pool.h"
#include "native_calls/watched_code.h"

namespace rlscope::native_calls {
namespace {

PyObject* Made(PyObject* object) {
  if (object != nullptr) ScanObject(object);
  return object;
}

PyObject* NewMethod(PyMethodDef* definition, PyObject* self, PyObject* module, PyTypeObject* type) {
  return Made(PyCMethod_New(definition, self, module, type));
}

PyObject* NewFunctionInModule(PyMethodDef* definition, PyObject* self, PyObject* module) {
  return Made(PyCMethod_New(definition, self, module, nullptr));
}

PyObject* NewFunction(PyMethodDef* definition, PyObject* self) {
  return Made(PyCMethod_New(definition, self, nullptr, nullptr));
}

int ReadyType(PyTypeObject* type) {
  const int failed = PyType_Ready(type);
  if (failed == 0) ScanObject(reinterpret_cast<PyObject*>(type));
  return failed;
}

int AddFunctions(PyObject* module, PyMethodDef* functions) {
  const int failed = PyModule_AddFunctions(module, functions);
  if (failed == 0) ScanObject(module);
  return failed;
}

bool HasMembers(PyObject* scope) { return PyType_Check(scope) || PyModule_Check(scope); }

// A function is named after its class only once it is put there.
int SetMember(PyObject* scope, PyObject* name, PyObject* value) {
  const int failed = PyObject_SetAttr(scope, name, value);
  if (failed == 0 && value != nullptr && HasMembers(scope)) ScanMember(scope, name, value);
  return failed;
}

void ScanMemberAt(PyObject* scope, const char* name, PyObject* value) {
  const ErrorAside aside;
  const Owned text(PyUnicode_FromString(name));
  if (text) ScanMember(scope, text.get(), value);
}

int SetMemberAt(PyObject* scope, const char* name, PyObject* value) {
  const int failed = PyObject_SetAttrString(scope, name, value);
  if (failed == 0 && value != nullptr && HasMembers(scope)) ScanMemberAt(scope, name, value);
  return failed;
}

// Takes over the reference to the value, as the function it stands for.
int AddObject(PyObject* module, const char* name, PyObject* value) {
  const Owned while_scanned(Py_XNewRef(value));
  const int failed = PyModule_AddObject(module, name, value);
  if (failed == 0) ScanMemberAt(module, name, value);
  return failed;
}

int AddObjectRef(PyObject* module, const char* name, PyObject* value) {
  const int failed = PyModule_AddObjectRef(module, name, value);
  if (failed == 0) ScanMemberAt(module, name, value);
  return failed;
}

template <auto kOriginal>
struct Makes;
template <typename... All, PyObject* (*kOriginal)(All...)>
struct Makes<kOriginal> {
  static PyObject* Hook(All... all) { return Made(kOriginal(all...)); }
};

template <typename Function>
void* Address(Function* function) {
  return reinterpret_cast<void*>(function);
}

std::vector<ImportHook> MakeHooks() {
#define MAKES(name)                   \
  {                                   \
    #name, Address(Makes<name>::Hook) \
  }
  return {
      {"PyCMethod_New", Address(NewMethod)},
      {"PyCFunction_NewEx", Address(NewFunctionInModule)},
      {"PyCFunction_New", Address(NewFunction)},
      {"PyType_Ready", Address(ReadyType)},
      {"PyModule_AddFunctions", Address(AddFunctions)},
      {"PyObject_SetAttr", Address(SetMember)},
      {"PyObject_SetAttrString", Address(SetMemberAt)},
      {"PyModule_AddObject", Address(AddObject)},
      {"PyModule_AddObjectRef", Address(AddObjectRef)},
      MAKES(PyModule_Create2),
      MAKES(PyType_FromSpec),
      MAKES(PyType_FromSpecWithBases),
      MAKES(PyType_FromModuleAndSpec),
#if PY_VERSION_HEX >= 0x030C0000
      MAKES(PyType_FromMetaclass),
#endif
      MAKES(PyDescr_NewMethod),
      MAKES(PyDescr_NewClassMethod),
      MAKES(PyDescr_NewGetSet),
  };
#undef MAKES
}

}  // namespace

const std::vector<ImportHook>& CreationHooks() {
  static const auto* const hooks = new std::vector<ImportHook>(MakeHooks());
  return *hooks;
}

void PatchResult(PyObject* result) {
  if (result == nullptr) return;
  void** location = VectorcallOf(result);
  if (location == nullptr || *location == nullptr || IsStub(*location)) return;
  if (FindWatched(*location) != nullptr) ScanObject(result);
}

}  // namespace rlscope::native_calls
