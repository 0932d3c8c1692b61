/* Types whose instances reach C by slots, getters, methods of each binding and vectorcall. */
#include "sample.h"

/* ---- Thing ------------------------------------------------------------------------------------
 */

typedef struct {
  PyObject ob_base;
  long value;
} Thing;

static Thing* as_thing(PyObject* self) { return (Thing*)self; }

static PyObject* thing_new(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  (void)arguments, (void)names;
  return type->tp_alloc(type, 0);
}
static int thing_init(PyObject* self, PyObject* arguments, PyObject* names) {
  (void)names;
  return PyArg_ParseTuple(arguments, "|l", &as_thing(self)->value) ? 0 : -1;
}
static void thing_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
static PyObject* thing_add(PyObject* left, PyObject* right) {
  (void)right;
  return Py_NewRef(left);
}
static PyObject* thing_item(PyObject* self, PyObject* key) {
  (void)self;
  return Py_NewRef(key);
}
static int thing_set_item(PyObject* self, PyObject* key, PyObject* value) {
  (void)self, (void)key, (void)value;
  return 0;
}
static Py_ssize_t thing_length(PyObject* self) { return as_thing(self)->value; }
static int thing_bool(PyObject* self) { return as_thing(self)->value != 0; }
static Py_hash_t thing_hash(PyObject* self) { return (Py_hash_t)as_thing(self)->value - 1000; }
static PyObject* thing_compare(PyObject* left, PyObject* right, int operation) {
  (void)left, (void)right;
  return PyBool_FromLong(operation == Py_EQ);
}
static PyObject* thing_repr(PyObject* self) {
  return PyUnicode_FromFormat("Thing(%ld)", as_thing(self)->value);
}
static PyObject* thing_call(PyObject* self, PyObject* arguments, PyObject* names) {
  (void)self, (void)names;
  return Py_NewRef(arguments);
}
static PyObject* thing_iter(PyObject* self) { return Py_NewRef(self); }
static PyObject* thing_next(PyObject* self) {
  if (as_thing(self)->value <= 0) return NULL;
  return PyLong_FromLong(as_thing(self)->value--);
}
static PyObject* thing_get_value(PyObject* self, void* closure) {
  (void)closure;
  return PyLong_FromLong(as_thing(self)->value);
}
static int thing_set_value(PyObject* self, PyObject* value, void* closure) {
  (void)closure;
  as_thing(self)->value = PyLong_AsLong(value);
  return 0;
}

static PyObject* thing_method(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  Py_RETURN_NONE;
}
static PyObject* thing_class_method(PyObject* type, PyObject* unused) {
  (void)unused;
  return Py_NewRef(type);
}
static PyObject* thing_static_method(PyObject* null, PyObject* argument) {
  (void)null;
  return Py_NewRef(argument);
}
static PyObject* thing_defining_class(PyObject* self, PyTypeObject* defining,
                                      PyObject* const* arguments, Py_ssize_t count,
                                      PyObject* names) {
  (void)self, (void)arguments, (void)names;
  return Py_BuildValue("On", (PyObject*)defining, count);
}
static PyObject* thing_nothing(PyObject* self, PyTypeObject* defining, PyObject* const* arguments,
                               Py_ssize_t count, PyObject* names) {
  (void)self, (void)defining, (void)arguments, (void)count, (void)names;
  Py_RETURN_NONE;
}

static int thing_set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_GenericSetAttr(self, name, value);
}

static PyMethodDef thing_methods[] = {
    {"method", thing_method, METH_NOARGS, NULL},
    {"class_method", thing_class_method, METH_NOARGS | METH_CLASS, NULL},
    {"static_method", thing_static_method, METH_O | METH_STATIC, NULL},
    {"defining_class", AS_METHOD(thing_defining_class), METH_METHOD | METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"nothing", AS_METHOD(thing_nothing), METH_METHOD | METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef thing_getset[] = {{"value", thing_get_value, thing_set_value, NULL, NULL},
                                     {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot thing_slots[] = {
    {Py_tp_new, thing_new},         {Py_tp_init, thing_init},
    {Py_tp_dealloc, thing_dealloc}, {Py_tp_repr, thing_repr},
    {Py_tp_hash, thing_hash},       {Py_tp_richcompare, thing_compare},
    {Py_tp_call, thing_call},       {Py_tp_setattro, thing_set_attribute},
    {Py_tp_iter, thing_iter},       {Py_tp_iternext, thing_next},
    {Py_nb_add, thing_add},         {Py_nb_bool, thing_bool},
    {Py_mp_subscript, thing_item},  {Py_mp_ass_subscript, thing_set_item},
    {Py_mp_length, thing_length},   {Py_tp_methods, thing_methods},
    {Py_tp_getset, thing_getset},   {0, NULL}};
static PyType_Spec thing_spec = {"sample.Thing", sizeof(Thing), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, thing_slots};

/* ---- Callable: a vectorcall function per object ------------------------------------------------
 */

#ifndef SAMPLE_WITHOUT_CALLABLE

typedef struct {
  PyObject ob_base;
  vectorcallfunc vectorcall;
} Callable;

static PyObject* callable_vectorcall(PyObject* self, PyObject* const* arguments, size_t count,
                                     PyObject* names) {
  (void)self, (void)arguments, (void)names;
  return PyLong_FromSsize_t(PyVectorcall_NARGS(count));
}
static PyObject* callable_new(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  (void)arguments, (void)names;
  Callable* self = (Callable*)type->tp_alloc(type, 0);
  if (self != NULL) self->vectorcall = callable_vectorcall;
  return (PyObject*)self;
}
static PyMemberDef callable_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callable, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot callable_slots[] = {{Py_tp_new, callable_new},
                                       {Py_tp_dealloc, thing_dealloc},
                                       {Py_tp_call, PyVectorcall_Call},
                                       {Py_tp_members, callable_members},
                                       {0, NULL}};
static PyType_Spec callable_spec = {"sample.Callable", sizeof(Callable), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
                                    callable_slots};

#endif /* SAMPLE_WITHOUT_CALLABLE */

static int add_type(PyObject* module, PyType_Spec* spec, const char* name) {
  PyObject* type = PyType_FromModuleAndSpec(module, spec, NULL);
  if (type == NULL) return -1;
  const int failed = PyModule_AddObjectRef(module, name, type);
  Py_DECREF(type);
  return failed;
}

int sample_add_types(PyObject* module) {
  if (add_type(module, &thing_spec, "Thing") != 0) return -1;
#ifdef SAMPLE_WITHOUT_CALLABLE
  return 0;
#else
  return add_type(module, &callable_spec, "Callable");
#endif
}
