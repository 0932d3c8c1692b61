#include "python/runtime_module/binder.h"

namespace rlscope::python {

namespace {

struct BinderObject {
  PyObject ob_base;
  PyObject* descriptor;  // what the binder stands for
  Py_ssize_t offset;
};

BinderObject* AsBinder(PyObject* self) { return reinterpret_cast<BinderObject*>(self); }

PyObject* BindAsUsual(PyObject* descriptor, PyObject* instance, PyTypeObject* type) {
  return Py_TYPE(descriptor)->tp_descr_get(descriptor, instance, reinterpret_cast<PyObject*>(type));
}

// Read from the class it is the descriptor itself, as contextlib.ExitStack expects.
PyObject* Bind(PyObject* self, PyObject* instance, PyObject*) {
  const BinderObject* binder = AsBinder(self);
  if (instance == nullptr) return Py_NewRef(binder->descriptor);
  PyObject* bound =
      *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(instance) + binder->offset);
  if (__builtin_expect(bound != nullptr, 1)) return Py_NewRef(bound);
  return BindAsUsual(binder->descriptor, instance, Py_TYPE(instance));
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(AsBinder(self)->descriptor);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

// No tp_clear: that of the type whose dictionary holds the binder breaks the cycle.
void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(AsBinder(self)->descriptor);
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                       {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Deallocate)},
                       {0, nullptr}};

PyType_Spec spec = {"rlscope._runtime.Binder", sizeof(BinderObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                        Py_TPFLAGS_IMMUTABLETYPE,
                    slots};

PyObject* NewBinder(PyTypeObject* binder_type, PyObject* descriptor, Py_ssize_t offset) {
  PyObject* binder = binder_type->tp_alloc(binder_type, 0);
  if (binder == nullptr) return nullptr;
  AsBinder(binder)->descriptor = Py_NewRef(descriptor);
  AsBinder(binder)->offset = offset;
  return binder;
}

}  // namespace

PyObject* NewBinderType(PyObject* module) {
  return PyType_FromModuleAndSpec(module, &spec, nullptr);
}

int BindAhead(PyObject* binder_type, PyTypeObject* type, const char* name, Py_ssize_t offset) {
  PyObject* descriptor = PyDict_GetItemString(type->tp_dict, name);
  if (descriptor == nullptr) {
    PyErr_SetString(PyExc_AttributeError, name);
    return -1;
  }
  PyObject* binder = NewBinder(reinterpret_cast<PyTypeObject*>(binder_type), descriptor, offset);
  if (binder == nullptr) return -1;
  const int failed = PyDict_SetItemString(type->tp_dict, name, binder);
  Py_DECREF(binder);
  PyType_Modified(type);
  return failed;
}

PyObject* BindNow(PyObject* object, const char* name) {
  PyObject* descriptor = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name);
  if (descriptor == nullptr) return nullptr;
  PyObject* bound = BindAsUsual(descriptor, object, Py_TYPE(object));
  Py_DECREF(descriptor);
  return bound;
}

}  // namespace rlscope::python
