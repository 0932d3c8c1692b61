#include "python/runtime_module/stand_in.h"

#include <stddef.h>
#include <structmember.h>

#include <initializer_list>

namespace rlscope::python {

namespace {

StandInObject* AsStandIn(PyObject* self) { return reinterpret_cast<StandInObject*>(self); }

// Methods that the object answers itself: the function's own methods would get around it.
bool IsOwn(PyObject* name) {
  if (!PyUnicode_Check(name) || PyUnicode_READ_CHAR(name, 0) != '_') return false;
  for (const char* own : {"__wrapped__", "__call__", "__get__", "__reduce__", "__reduce_ex__",
                          "__repr__", "__hash__", "__eq__", "__ne__"}) {
    if (PyUnicode_CompareWithASCIIString(name, own) == 0) return true;
  }
  return false;
}

PyObject* GetAttribute(PyObject* self, PyObject* name) {
  if (IsOwn(name)) return PyObject_GenericGetAttr(self, name);
  return PyObject_GetAttr(AsStandIn(self)->function, name);
}

int SetAttribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(AsStandIn(self)->function, name, value);
}

PyObject* Bind(PyObject* self, PyObject* instance, PyObject*) {
  const bool is_bound = PyCFunction_Check(AsStandIn(self)->function);  // to its own object
  if (instance == nullptr || instance == Py_None || is_bound) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* Represent(PyObject* self) { return PyObject_Repr(AsStandIn(self)->function); }

// Pickled by name, as a function is; one of C by its object and its name.
PyObject* Reduce(PyObject* self, PyObject*) {
  PyObject* function = AsStandIn(self)->function;
  if (PyCFunction_Check(function)) return PyObject_CallMethod(function, "__reduce__", nullptr);
  return PyObject_GetAttrString(function, "__qualname__");
}

PyObject* Wrapped(PyObject* self, void*) { return Py_NewRef(AsStandIn(self)->function); }

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(AsStandIn(self)->function);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

// No tp_clear: that of the function, or of the class whose dictionary has the object, breaks the
// cycle; a stand-in is never without its function.
void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (AsStandIn(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Py_XDECREF(AsStandIn(self)->function);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef object_methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr},
                                {"__reduce_ex__", Reduce, METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

PyMemberDef object_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(StandInObject, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(StandInObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef object_attributes[] = {{"__wrapped__", Wrapped, nullptr, nullptr, nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot object_slots[] = {{Py_tp_methods, object_methods},
                              {Py_tp_members, object_members},
                              {Py_tp_getset, object_attributes},
                              {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                              {Py_tp_getattro, reinterpret_cast<void*>(GetAttribute)},
                              {Py_tp_setattro, reinterpret_cast<void*>(SetAttribute)},
                              {Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                              {Py_tp_repr, reinterpret_cast<void*>(Represent)},
                              {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                              {Py_tp_dealloc, reinterpret_cast<void*>(Deallocate)},
                              {0, nullptr}};

PyType_Spec object_spec = {"rlscope._runtime.StandIn", sizeof(StandInObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_GC |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           object_slots};

}  // namespace

PyObject* NewStandInType(PyObject* module) {
  return PyType_FromModuleAndSpec(module, &object_spec, nullptr);
}

PyObject* NewStandIn(PyTypeObject* type, vectorcallfunc vectorcall, PyObject* function) {
  auto* stand_in = PyObject_GC_New(StandInObject, type);
  if (stand_in == nullptr) return nullptr;
  stand_in->function = Py_NewRef(function);
  stand_in->call = PyFunction_Check(function)
                       ? reinterpret_cast<PyFunctionObject*>(function)->vectorcall
                       : PyObject_Vectorcall;
  stand_in->vectorcall = vectorcall;
  stand_in->weak_references = nullptr;
  PyObject* object = reinterpret_cast<PyObject*>(stand_in);
  PyObject_GC_Track(object);
  return object;
}

}  // namespace rlscope::python
