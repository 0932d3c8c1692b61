/* Functions that are made at run time: over a definition that lasts, and over one that dies with
   its function, as binding generators make them and put them into classes and modules. */
#include <stdlib.h>
#include <string.h>

#include "sample.h"

static PyObject* late(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return PyLong_FromLong(1);
}

static PyMethodDef late_definition = {"late", late, METH_NOARGS, NULL};

static PyObject* make_function(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return PyCFunction_New(&late_definition, NULL);
}

/* The one C function behind all of the short-lived ones; what it does is in its capsule. */
static PyObject* dispatch(PyObject* capsule, PyObject* arguments) {
  (void)arguments;
  const PyMethodDef* definition = PyCapsule_GetPointer(capsule, NULL);
  return definition == NULL ? NULL : PyUnicode_FromString(definition->ml_name);
}

static void free_definition(PyObject* capsule) {
  PyMethodDef* definition = PyCapsule_GetPointer(capsule, NULL);
  free((void*)definition->ml_name);
  free(definition);
}

static PyObject* make_short_lived(PyObject* self, PyObject* name) {
  (void)self;
  const char* text = PyUnicode_AsUTF8(name);
  PyMethodDef* definition = text == NULL ? NULL : calloc(1, sizeof *definition);
  if (definition == NULL) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  definition->ml_name = strdup(text);
  definition->ml_meth = dispatch;
  definition->ml_flags = METH_VARARGS;
  PyObject* capsule = PyCapsule_New(definition, NULL, free_definition);
  PyObject* function = capsule == NULL ? NULL : PyCFunction_New(definition, capsule);
  Py_XDECREF(capsule);
  return function;
}

static PyObject* wrap(PyObject* function, const char* wrapping) {
  if (strcmp(wrapping, "instancemethod") == 0) return PyInstanceMethod_New(function);
  if (strcmp(wrapping, "staticmethod") == 0) return PyStaticMethod_New(function);
  if (strcmp(wrapping, "property") != 0) return Py_NewRef(function);
  return PyObject_CallOneArg((PyObject*)&PyProperty_Type, function);
}

static int put(const char* way, PyObject* scope, PyObject* name, PyObject* value) {
  const char* text = PyUnicode_AsUTF8(name);
  if (strcmp(way, "PyObject_SetAttr") == 0) return PyObject_SetAttr(scope, name, value);
  if (strcmp(way, "PyObject_SetAttrString") == 0) return PyObject_SetAttrString(scope, text, value);
  if (strcmp(way, "PyModule_AddObjectRef") == 0) return PyModule_AddObjectRef(scope, text, value);
  const int failed = PyModule_AddObject(scope, text, Py_NewRef(value));
  if (failed) Py_DECREF(value);
  return failed;
}

/* bind(way, wrapping, scope, name): as binding generators do while their library is imported. The
   function does not know its name. */
static PyObject* bind(PyObject* self, PyObject* arguments) {
  const char *way, *wrapping;
  PyObject *scope, *name;
  if (!PyArg_ParseTuple(arguments, "ssOU", &way, &wrapping, &scope, &name)) return NULL;
  PyObject* unnamed = PyUnicode_FromString("");
  PyObject* function = make_short_lived(self, unnamed);
  PyObject* value = function == NULL ? NULL : wrap(function, wrapping);
  const int failed = value == NULL || put(way, scope, name, value) != 0;
  Py_XDECREF(value);
  Py_XDECREF(function);
  Py_XDECREF(unnamed);
  return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject* lent_call(PyObject* self, PyObject* arguments, PyObject* names) {
  (void)self, (void)names;
  return Py_NewRef(arguments);
}

/* A static type, and behind it what a heap type would have there. */
static struct {
  PyTypeObject type;
  unsigned char behind[sizeof(PyHeapTypeObject) - sizeof(PyTypeObject)];
} lent = {.type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "sample.Lent",
                   .tp_basicsize = sizeof(PyObject),
                   .tp_flags = Py_TPFLAGS_DEFAULT,
                   .tp_new = PyType_GenericNew,
                   .tp_call = lent_call}};

/* make_lent() -> a static type that had the flag of heap types while it was made ready, as Cython
   does it. */
static PyObject* make_lent(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  memset(lent.behind, 0x5a, sizeof lent.behind);
  lent.type.tp_flags |= Py_TPFLAGS_HEAPTYPE;
  const int failed = PyType_Ready(&lent.type);
  lent.type.tp_flags &= ~Py_TPFLAGS_HEAPTYPE;
  return failed ? NULL : Py_NewRef((PyObject*)&lent.type);
}

PyMethodDef sample_later_methods[] = {{"make_function", make_function, METH_NOARGS, NULL},
                                      {"make_short_lived", make_short_lived, METH_O, NULL},
                                      {"bind", bind, METH_VARARGS, NULL},
                                      {"make_lent", make_lent, METH_NOARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
