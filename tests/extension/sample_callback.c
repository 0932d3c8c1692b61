/* Native code that calls Python, by each function of the C API that does so. */
#include <pthread.h>

#include "sample.h"

static PyObject* call(PyObject* self, PyObject* arguments) {
  (void)self;
  PyObject* callable = PyTuple_GetItem(arguments, 0);
  if (callable == NULL) return NULL;
  PyObject* rest = PyTuple_GetSlice(arguments, 1, PyTuple_GET_SIZE(arguments));
  PyObject* result = rest == NULL ? NULL : PyObject_Call(callable, rest, NULL);
  Py_XDECREF(rest);
  return result;
}

static PyObject* call_object(PyObject* self, PyObject* callable) {
  (void)self;
  return PyObject_CallObject(callable, NULL);
}
static PyObject* call_no_arguments(PyObject* self, PyObject* callable) {
  (void)self;
  return PyObject_CallNoArgs(callable);
}
static PyObject* call_function(PyObject* self, PyObject* callable) {
  (void)self;
  return PyObject_CallFunction(callable, "iN", 7, PyLong_FromLong(8));
}
static PyObject* call_function_objects(PyObject* self, PyObject* callable) {
  (void)self;
  return PyObject_CallFunctionObjArgs(callable, Py_True, Py_False, NULL);
}
static PyObject* call_method(PyObject* self, PyObject* object) {
  (void)self;
  return PyObject_CallMethod(object, "method", "i", 7);
}
static PyObject* call_method_objects(PyObject* self, PyObject* object) {
  (void)self;
  PyObject* name = PyUnicode_FromString("method");
  PyObject* result = name == NULL ? NULL : PyObject_CallMethodObjArgs(object, name, Py_True, NULL);
  Py_XDECREF(name);
  return result;
}
static PyObject* call_vector(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self;
  return PyObject_Vectorcall(arguments[0], arguments + 1, (size_t)(count - 1), NULL);
}

/* Calls the callable that many times. */
static PyObject* repeat(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)count;
  const long times = PyLong_AsLong(arguments[1]);
  for (long i = 0; i < times; i++) {
    PyObject* result = PyObject_CallNoArgs(arguments[0]);
    if (result == NULL) return NULL;
    Py_DECREF(result);
  }
  Py_RETURN_NONE;
}

/* Ignores what the callable raises. */
static PyObject* call_and_forgive(PyObject* self, PyObject* callable) {
  (void)self;
  PyObject* result = PyObject_CallNoArgs(callable);
  if (result == NULL) PyErr_Clear();
  Py_XDECREF(result);
  Py_RETURN_NONE;
}

static void* run_in_thread(void* callable) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* result = PyObject_CallNoArgs(callable);
  if (result == NULL) PyErr_WriteUnraisable(callable);
  Py_XDECREF(result);
  PyGILState_Release(state);
  return NULL;
}

/* In a thread that C makes, as autograd engines do. */
static PyObject* call_in_thread(PyObject* self, PyObject* callable) {
  (void)self;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_in_thread, callable) != 0) return PyErr_NoMemory();
  Py_BEGIN_ALLOW_THREADS;
  pthread_join(thread, NULL);
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyMethodDef sample_callback_methods[] = {
    {"call", call, METH_VARARGS, NULL},
    {"call_object", call_object, METH_O, NULL},
    {"call_no_arguments", call_no_arguments, METH_O, NULL},
    {"call_function", call_function, METH_O, NULL},
    {"call_function_objects", call_function_objects, METH_O, NULL},
    {"call_method", call_method, METH_O, NULL},
    {"call_method_objects", call_method_objects, METH_O, NULL},
    {"call_vector", AS_METHOD(call_vector), METH_FASTCALL, NULL},
    {"repeat", AS_METHOD(repeat), METH_FASTCALL, NULL},
    {"call_and_forgive", call_and_forgive, METH_O, NULL},
    {"call_in_thread", call_in_thread, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
