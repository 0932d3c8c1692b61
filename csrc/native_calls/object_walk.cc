#include "native_calls/object_walk.h"

#include <string_view>
#include <unordered_set>

namespace rlscope::native_calls {
namespace {

// CPython's property begins so, from 3.10 on; pybind11's static property derives from it.
struct PropertyHead {
  PyObject ob_base;
  PyObject* get;
  PyObject* set;
  PyObject* remove;
};

void VisitNamespace(PyObject* dictionary, Place place, Visitor* visitor) {
  PyObject* value;
  Py_ssize_t position = 0;
  while (PyDict_Next(dictionary, &position, &place.attribute, &value)) {
    WalkValue(value, place, visitor);
  }
}

Owned DictionaryOf(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030C0000
  return Owned(PyType_GetDict(type));
#else
  Py_XINCREF(type->tp_dict);
  return Owned(type->tp_dict);
#endif
}

bool IsWatchedPackage(PyObject* name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &size) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return false;
  }
  std::string_view package(text, static_cast<size_t>(size));
  package = package.substr(0, package.find('.'));
  for (const WatchedRange* library : WatchedLibraries()) {
    if (library->package == package) return true;
  }
  return false;
}

void WalkModulesWhere(bool watched, Visitor* visitor) {
  PyObject* modules = PyImport_GetModuleDict();
  PyObject *name, *module;
  Py_ssize_t position = 0;
  while (PyDict_Next(modules, &position, &name, &module)) {
    if (PyModule_Check(module) && IsWatchedPackage(name) == watched) WalkModule(module, visitor);
  }
}

#if PY_VERSION_HEX >= 0x030C0000
int VisitCollected(PyObject* object, void* visitor) {
  if (HolderOf(object) != Holder::kNothing) {
    static_cast<Visitor*>(visitor)->VisitObject(object, Place());
  }
  return 1;
}
#endif

}  // namespace

AllTypes::AllTypes() {
  const Owned subclasses(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyType_Type), "__subclasses__"));
  if (!subclasses) {
    PyErr_Clear();
    return;
  }
  std::unordered_set<PyTypeObject*> seen;
  seen.reserve(16384);
  types_.push_back(&PyBaseObject_Type);
  for (size_t next = 0; next < types_.size(); next++) {
    Owned below(PyObject_CallOneArg(subclasses.get(), reinterpret_cast<PyObject*>(types_[next])));
    if (!below) {
      PyErr_Clear();
      continue;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(below.get()); i++) {
      auto* type = reinterpret_cast<PyTypeObject*>(PyList_GET_ITEM(below.get(), i));
      if (seen.insert(type).second) types_.push_back(type);
    }
    if (PyList_GET_SIZE(below.get()) > 0) references_.push_back(std::move(below));
  }
}

void WalkValue(PyObject* value, const Place& place, Visitor* visitor) {
  if (PyObject_TypeCheck(value, &PyProperty_Type)) {
    auto* property = reinterpret_cast<PropertyHead*>(value);
    for (PyObject* accessor : {property->get, property->set, property->remove}) {
      if (accessor != nullptr) WalkValue(accessor, place, visitor);
    }
    return;
  }
  PyObject* object = Unwrap(value);
  if (object != nullptr && !PyType_Check(object)) visitor->VisitObject(object, place);
}

void WalkModules(Visitor* visitor) {
  WalkModulesWhere(true, visitor);
  WalkModulesWhere(false, visitor);
}

void WalkModule(PyObject* module, Visitor* visitor) {
  Place place;
  place.module = module;
  VisitNamespace(PyModule_GetDict(module), place, visitor);
}

void WalkType(PyTypeObject* type, Visitor* visitor) {
  visitor->VisitType(type);
  const Owned dictionary = DictionaryOf(type);
  if (!dictionary) return;
  Place place;
  place.type = type;
  VisitNamespace(dictionary.get(), place, visitor);
}

void WalkCollected(Visitor* visitor) {
#if PY_VERSION_HEX >= 0x030C0000
  PyUnstable_GC_VisitObjects(&VisitCollected, visitor);
#else
  const Owned collector(PyImport_ImportModule("gc"));
  const Owned objects(collector ? PyObject_CallMethod(collector.get(), "get_objects", nullptr)
                                : nullptr);
  if (!objects) return PyErr_Clear();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects.get()); i++) {
    PyObject* object = PyList_GET_ITEM(objects.get(), i);
    if (HolderOf(object) != Holder::kNothing) visitor->VisitObject(object, Place());
  }
#endif
}

}  // namespace rlscope::native_calls
