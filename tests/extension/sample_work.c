/* Functions that take time, fail, or end the thread or the process. */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "sample.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void sample_spin(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}

static PyObject* spin(PyObject* self, PyObject* seconds) {
  (void)self;
  const double value = PyFloat_AsDouble(seconds);
  if (value == -1.0 && PyErr_Occurred()) return NULL;
  sample_spin(value);
  Py_RETURN_NONE;
}

static void wait_for(double seconds) {
  struct timespec time;
  time.tv_sec = (time_t)seconds;
  time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
  nanosleep(&time, NULL);
}

/* Without the GIL, as native code that computes does it. */
static PyObject* wait(PyObject* self, PyObject* seconds) {
  (void)self;
  const double value = PyFloat_AsDouble(seconds);
  if (value == -1.0 && PyErr_Occurred()) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  wait_for(value);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

/* Waits until a signal handler written in Python raises. */
static PyObject* wait_for_signal(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  for (;;) {
    wait_for(0.001);
    if (PyErr_CheckSignals() != 0) return NULL;
  }
}

static PyObject* fail(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  PyErr_SetString(PyExc_ValueError, "as asked");
  return NULL;
}

static PyObject* end_thread(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  PyEval_SaveThread();
  pthread_exit(NULL);
}

static PyObject* end_process(PyObject* self, PyObject* status) {
  (void)self;
  _exit((int)PyLong_AsLong(status));
}

/* fork() by the library itself, as some simulators do for their servers. */
static PyObject* fork_here(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  PyOS_BeforeFork();
  const pid_t child = fork();
  if (child == 0) {
    PyOS_AfterFork_Child();
  } else {
    PyOS_AfterFork_Parent();
  }
  return PyLong_FromLong((long)child);
}

PyMethodDef sample_work_methods[] = {{"spin", spin, METH_O, NULL},
                                     {"wait", wait, METH_O, NULL},
                                     {"wait_for_signal", wait_for_signal, METH_NOARGS, NULL},
                                     {"fail", fail, METH_NOARGS, NULL},
                                     {"end_thread", end_thread, METH_NOARGS, NULL},
                                     {"end_process", end_process, METH_O, NULL},
                                     {"fork_here", fork_here, METH_NOARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
