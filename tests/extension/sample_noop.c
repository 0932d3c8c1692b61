/* One function that does nothing for each METH_ kind. The second table is constant, as some
   libraries declare theirs: the loader makes its page read-only (RELRO). */
#include "sample.h"

static PyObject* noargs(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  Py_RETURN_NONE;
}

static PyObject* one(PyObject* self, PyObject* argument) {
  (void)self, (void)argument;
  Py_RETURN_NONE;
}

static PyObject* varargs(PyObject* self, PyObject* arguments) {
  (void)self, (void)arguments;
  Py_RETURN_NONE;
}

static PyObject* keywords(PyObject* self, PyObject* arguments, PyObject* names) {
  (void)self, (void)arguments, (void)names;
  Py_RETURN_NONE;
}

static PyObject* fast(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)arguments, (void)count;
  Py_RETURN_NONE;
}

static PyObject* fast_keywords(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                               PyObject* names) {
  (void)self, (void)arguments, (void)count, (void)names;
  Py_RETURN_NONE;
}

PyMethodDef sample_noop_methods[] = {
    {"noargs", noargs, METH_NOARGS, "Does nothing."},
    {"one", one, METH_O, NULL},
    {"varargs", varargs, METH_VARARGS, NULL},
    {"keywords", AS_METHOD(keywords), METH_VARARGS | METH_KEYWORDS, NULL},
    {"fast", AS_METHOD(fast), METH_FASTCALL, NULL},
    {"fast_keywords", AS_METHOD(fast_keywords), METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

const PyMethodDef sample_constant_methods[] = {{"constant", noargs, METH_NOARGS, NULL},
                                               {NULL, NULL, 0, NULL}};
