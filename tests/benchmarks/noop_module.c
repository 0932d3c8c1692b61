/* The floor of the annotation benchmark: a context manager in C that does nothing, with the method
   flags of rlscope's own (__enter__ METH_NOARGS, __exit__ METH_FASTCALL). What `with` costs on top
   of it is the price of recording. Built by annotation.py. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject* enter(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_NewRef(self);
}

static PyObject* leave(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)arguments, (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"noop.Noop", sizeof(PyObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

static int execute(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &spec, NULL);
  return type == NULL ? -1 : PyModule_AddObjectRef(module, "Noop", type);
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void*)execute}, {0, NULL}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "noop", NULL, 0,   NULL,
                                 module_slots,          NULL,   NULL, NULL};

PyMODINIT_FUNC PyInit_noop(void) { return PyModuleDef_Init(&definition); }
