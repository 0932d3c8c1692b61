/* 128 functions, each with code of its own, for calling one after the other: a CPU foresees where
 * an indirect call goes that goes there each time, and not one that goes to each of them in turn.
 * Built by interception.py. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define EACH_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
// clang-format off
#define EACH_64(X, n)                                             \
  EACH_8(X, n##0) EACH_8(X, n##1) EACH_8(X, n##2) EACH_8(X, n##3) \
  EACH_8(X, n##4) EACH_8(X, n##5) EACH_8(X, n##6) EACH_8(X, n##7)
// clang-format on
#define EACH(X) EACH_64(X, 0) EACH_64(X, 01)

/* Equal functions a compiler makes into one. */
#define FUNCTION(n)                                                   \
  static PyObject* function_##n(PyObject* self, PyObject* argument) { \
    (void)self, (void)argument;                                       \
    return PyLong_FromLong(n);                                        \
  }
EACH(FUNCTION)

#define METHOD(n) {"function_" #n, function_##n, METH_O, NULL},
static PyMethodDef methods[] = {EACH(METHOD){NULL, NULL, 0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "in_turn", .m_methods = methods};

PyMODINIT_FUNC PyInit_in_turn(void) { return PyModuleDef_Init(&definition); }
