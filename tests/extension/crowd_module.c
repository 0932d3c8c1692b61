/* More functions than there are stubs: 33,000, each with a definition of its own and no work. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>

#define FUNCTIONS 33000

static PyMethodDef methods[FUNCTIONS + 1];
static char names[FUNCTIONS][8];

static PyObject* nothing(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  Py_RETURN_NONE;
}

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "crowd", .m_methods = methods};

PyMODINIT_FUNC PyInit_crowd(void) {
  for (int i = 0; i < FUNCTIONS; i++) {
    snprintf(names[i], sizeof names[i], "f%d", i);
    methods[i] = (PyMethodDef){names[i], nothing, METH_NOARGS, NULL};
  }
  return PyModuleDef_Init(&definition);
}
