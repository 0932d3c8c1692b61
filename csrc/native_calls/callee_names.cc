#include "native_calls/callee_names.h"

#include <string.h>

#include <string_view>

#include "native_calls/owned.h"

namespace rlscope::native_calls {
namespace {

// Empty unless `object` is a str; valid while it lives.
std::string_view TextOf(PyObject* object) {
  if (object == nullptr || !PyUnicode_Check(object)) return {};
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text != nullptr) return {text, static_cast<size_t>(size)};
  PyErr_Clear();
  return {};
}

std::string_view TextOf(const char* text) { return text == nullptr ? "" : text; }

std::string Join(std::string_view module, std::string_view function) {
  std::string name;
  name.reserve(module.size() + 1 + function.size());
  name.append(module).append(1, ':').append(function);
  return name;
}

// The type's own __module__, which only a heap type keeps; borrowed, may be null.
PyObject* ModuleOfHeapType(PyTypeObject* type) {
  PyObject* module = PyDict_GetItemString(type->tp_dict, "__module__");
  return module;
}

std::string_view NameInModule(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::string_view ModuleOfPath(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view Or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

// Whether the module is one of the library's own, and not a user's that imported from it.
bool IsOwnModule(std::string_view module, const WatchedRange& library) {
  return module.substr(0, module.find('.')) == library.package;
}

std::string_view NameOfModule(PyObject* module) {
  PyObject* dictionary = PyModule_Check(module) ? PyModule_GetDict(module) : nullptr;
  if (dictionary == nullptr) return {};
  return TextOf(PyDict_GetItemString(dictionary, "__name__"));
}

// "ns:Type.f" for what belongs to a type.
std::string Member(PyTypeObject* type, std::string_view attribute, const WatchedRange& library) {
  return NameOfType(type, library).append(1, '.').append(attribute);
}

constexpr std::string_view kUnnamed = "(unnamed)";

// A builtin that no namespace of its library names: by its module, or by what it is bound to.
std::string NameOfStray(PyCFunctionObject* function, const WatchedRange& library) {
  const std::string_view name = Or(TextOf(function->m_ml->ml_name), kUnnamed);
  const std::string_view module = TextOf(function->m_module);
  if (!module.empty()) return Join(module, name);
  PyObject* self = (function->m_ml->ml_flags & METH_STATIC) != 0 ? nullptr : function->m_self;
  if (self == nullptr || IsFunctionRecord(self)) return Join(library.package, name);
  if (PyModule_Check(self)) return Join(Or(NameOfModule(self), library.package), name);
  PyTypeObject* type = PyType_Check(self) ? reinterpret_cast<PyTypeObject*>(self) : Py_TYPE(self);
  const bool is_own = FindWatched(reinterpret_cast<void*>(type->tp_dealloc)) != nullptr;
  return is_own ? Member(type, name, library) : Join(library.package, name);
}

std::string NameOfFunction(PyCFunctionObject* function, const Place& place,
                           const WatchedRange& library) {
  const std::string_view attribute = TextOf(place.attribute);
  if (place.type != nullptr) return Member(place.type, attribute, library);
  const std::string_view module = TextOf(function->m_module);
  const std::string_view name = Or(TextOf(function->m_ml->ml_name), attribute);
  if (!module.empty()) return Join(module, Or(name, kUnnamed));
  if (place.module != nullptr) {
    const std::string_view found_in = NameOfModule(place.module);
    if (IsOwnModule(found_in, library)) return Join(found_in, attribute);
  }
  return NameOfStray(function, library);
}

// An attribute of a callable as text; it may be computed by its library, never by Python code.
std::string AttributeText(PyObject* object, const char* attribute) {
  const Owned value(PyObject_GetAttrString(object, attribute));
  if (!value) PyErr_Clear();
  return std::string(TextOf(value.get()));
}

std::string NameOfVectorcall(PyObject* object, const Place& place, const WatchedRange& library) {
  if (place.type != nullptr) return Member(place.type, TextOf(place.attribute), library);
  const std::string name = AttributeText(object, "__qualname__");
  if (name.empty()) return NameOfCallables(Py_TYPE(object), library);
  const std::string module = AttributeText(object, "__module__");
  return Join(module.empty() ? library.package : module, name);
}

}  // namespace

bool IsFunctionRecord(PyObject* self) {
  if (PyCapsule_CheckExact(self)) return true;
  const PyTypeObject* type = Py_TYPE(self);
  return type->tp_basicsize == static_cast<Py_ssize_t>(sizeof(PyObject) + sizeof(void*)) &&
         FindWatched(reinterpret_cast<void*>(type->tp_dealloc)) != nullptr;
}

std::string NameOfType(PyTypeObject* type, const WatchedRange& library) {
  const std::string_view path = TextOf(type->tp_name);
  if (!IsHeapType(type)) {
    return Join(Or(ModuleOfPath(path), library.package), NameInModule(path));
  }
  const std::string_view module = TextOf(ModuleOfHeapType(type));
  const std::string_view name = TextOf(reinterpret_cast<PyHeapTypeObject*>(type)->ht_qualname);
  return Join(Or(module, library.package), Or(name, path));
}

std::string NameOfSlot(PyTypeObject* type, const Slot& slot, const WatchedRange& library) {
  return Member(type, slot.name, library);
}

std::string NameOfCallable(PyObject* object, Holder holder, const Place& place,
                           const WatchedRange& library) {
  switch (holder) {
    case Holder::kFunction:
      return NameOfFunction(reinterpret_cast<PyCFunctionObject*>(object), place, library);
    case Holder::kVectorcall:
      return NameOfVectorcall(object, place, library);
    default: {
      auto* descriptor = reinterpret_cast<PyDescrObject*>(object);
      return Member(descriptor->d_type, TextOf(descriptor->d_name), library);
    }
  }
}

std::string NameOfCallables(PyTypeObject* type, const WatchedRange& library) {
  const std::string name = NameOfType(type, library);
  return IsOwnModule(name.substr(0, name.find(':')), library) ? name
                                                              : Join(library.package, kUnnamed);
}

}  // namespace rlscope::native_calls
