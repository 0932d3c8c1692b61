#include "python/runtime_module/annotated.h"

#include <stddef.h>
#include <structmember.h>

#include "python/runtime_module/operation.h"

namespace rlscope::python {

namespace {

struct AnnotatedObject {
  PyObject ob_base;
  PyObject* function;
  PyObject* operation;
  vectorcallfunc vectorcall;
  PyObject* attributes;  // __dict__: __wrapped__, __name__, ... by functools.update_wrapper
  PyObject* weak_references;
};

AnnotatedObject* AsAnnotated(PyObject* self) { return reinterpret_cast<AnnotatedObject*>(self); }

PyObject* Call(PyObject* self, PyObject* const* arguments, size_t flagged_count,
               PyObject* keywords) {
  auto* operation = reinterpret_cast<OperationObject*>(AsAnnotated(self)->operation);
  Py_INCREF(operation);  // the call may drop the last reference to the decorated function
  Record(trace::kOperationEnter, operation);
  PyObject* result =
      PyObject_Vectorcall(AsAnnotated(self)->function, arguments, flagged_count, keywords);
  Record(trace::kOperationExit, operation);
  Py_DECREF(operation);
  return result;
}

// Binds like a function, so that it works as a method.
PyObject* Bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

// Pickled by name, as a function is.
PyObject* Reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyObject* Represent(PyObject* self) {
  const auto* annotated = AsAnnotated(self);
  return PyUnicode_FromFormat("<%R of %R>", annotated->operation, annotated->function);
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(AsAnnotated(self)->function);
  Py_VISIT(AsAnnotated(self)->operation);
  Py_VISIT(AsAnnotated(self)->attributes);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

// The operation stays: a call may be under way in a function that the collector takes apart.
int Clear(PyObject* self) {
  Py_CLEAR(AsAnnotated(self)->attributes);
  return 0;
}

void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (AsAnnotated(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Clear(self);
  Py_XDECREF(AsAnnotated(self)->function);
  Py_XDECREF(AsAnnotated(self)->operation);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef object_methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

PyMemberDef object_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(AnnotatedObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(AnnotatedObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(AnnotatedObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef object_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot object_slots[] = {{Py_tp_methods, object_methods},
                              {Py_tp_members, object_members},
                              {Py_tp_getset, object_attributes},
                              {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                              {Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                              {Py_tp_repr, reinterpret_cast<void*>(Represent)},
                              {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                              {Py_tp_dealloc, reinterpret_cast<void*>(Deallocate)},
                              {0, nullptr}};

PyType_Spec object_spec = {"rlscope._runtime.Annotated", sizeof(AnnotatedObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_GC |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           object_slots};

// Gives the object the name, the documentation and the attributes of its function.
bool TakeIdentity(PyObject* annotated, PyObject* function) {
  PyObject* functools = PyImport_ImportModule("functools");
  if (functools == nullptr) return false;
  PyObject* done = PyObject_CallMethod(functools, "update_wrapper", "OO", annotated, function);
  Py_DECREF(functools);
  Py_XDECREF(done);
  return done != nullptr;
}

// annotate_calls(operation, function): rlscope/recorder/decorator.py.
PyObject* AnnotateCalls(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  const ModuleState* state = StateOf(module);
  if (count != 2 || Py_TYPE(arguments[0]) != state->operation_type ||
      !PyCallable_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "annotate_calls takes an operation and a callable");
    return nullptr;
  }
  auto* annotated = PyObject_GC_New(AnnotatedObject, state->annotated_type);
  if (annotated == nullptr) return nullptr;
  annotated->function = Py_NewRef(arguments[1]);
  annotated->operation = Py_NewRef(arguments[0]);
  annotated->vectorcall = Call;
  annotated->attributes = nullptr;
  annotated->weak_references = nullptr;
  PyObject_GC_Track(annotated);
  PyObject* object = reinterpret_cast<PyObject*>(annotated);
  if (TakeIdentity(object, arguments[1])) return object;
  Py_DECREF(object);
  return nullptr;
}

PyMethodDef module_functions[] = {
    {"annotate_calls", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(AnnotateCalls)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int AddAnnotated(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &object_spec, nullptr);
  if (type == nullptr) return -1;
  StateOf(module)->annotated_type = reinterpret_cast<PyTypeObject*>(type);
  return PyModule_AddFunctions(module, module_functions);
}

}  // namespace rlscope::python
