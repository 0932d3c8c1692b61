/* Functions that are made at run time: over a definition that lasts, and over one that dies with
   its function, as binding generators make them. */
#include <stdlib.h>

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
static PyObject* dispatch(PyObject* capsule, PyObject* unused) {
  (void)unused;
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
  definition->ml_flags = METH_NOARGS;
  PyObject* capsule = PyCapsule_New(definition, NULL, free_definition);
  PyObject* function = capsule == NULL ? NULL : PyCFunction_New(definition, capsule);
  Py_XDECREF(capsule);
  return function;
}

PyMethodDef sample_later_methods[] = {{"make_function", make_function, METH_NOARGS, NULL},
                                      {"make_short_lived", make_short_lived, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
