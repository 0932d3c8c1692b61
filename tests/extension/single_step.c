/* count(function, argument) -> instructions that function(argument) takes in this thread: the same
   number on a slow machine and a busy one. By the CPU's single-step flag; x86-64 only. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <signal.h>
#include <x86intrin.h>

#define TRAP_FLAG 0x100ull

static volatile unsigned long long steps;

static void on_step(int signal) {
  (void)signal;
  steps++;
}

static PyObject* count(PyObject* self, PyObject* arguments) {
  struct sigaction before, ours = {.sa_handler = on_step};
  PyObject *function, *argument;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "OO", &function, &argument)) return NULL;
  sigaction(SIGTRAP, &ours, &before);
  steps = 0;
  __writeeflags(__readeflags() | TRAP_FLAG);
  PyObject* result = PyObject_CallOneArg(function, argument);
  __writeeflags(__readeflags() & ~TRAP_FLAG);
  sigaction(SIGTRAP, &before, NULL);
  if (result == NULL) return NULL;
  Py_DECREF(result);
  return PyLong_FromUnsignedLongLong(steps);
}

static PyMethodDef methods[] = {{"count", count, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "single_step", .m_methods = methods};

PyMODINIT_FUNC PyInit_single_step(void) { return PyModuleDef_Init(&definition); }
