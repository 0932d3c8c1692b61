/* What reading the clock costs: the unit of the interception benchmark. And whether the core is the
 * benchmark's own. Built by it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "core_share.h"

static inline uint64_t read_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

static PyObject* read_many(PyObject* self, PyObject* count) {
  (void)self;
  const long times = PyLong_AsLong(count);
  if (times == -1 && PyErr_Occurred()) return NULL;
  uint64_t ticks = 0;
  for (long i = 0; i < times; i++) ticks ^= read_ticks();
  return PyLong_FromUnsignedLongLong(ticks);
}

static PyObject* await_own(PyObject* self, PyObject* limit_s) {
  (void)self;
  const double limit = PyFloat_AsDouble(limit_s);
  if (limit == -1.0 && PyErr_Occurred()) return NULL;
  return PyBool_FromLong(await_own_core(limit * 1e9));
}

static PyMethodDef methods[] = {
    {"await_own_core", await_own, METH_O,
     "Waits at most so many seconds until no neighbour's hyperthread shares the core; false: one "
     "does."},
    {"read_many", read_many, METH_O, "Reads the time stamp counter that many times in a row."},
    {NULL, NULL, 0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "ticks", .m_methods = methods};

PyMODINIT_FUNC PyInit_ticks(void) { return PyModuleDef_Init(&definition); }
