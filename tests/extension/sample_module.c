#include "sample.h"

static int execute(PyObject* module) {
  PyMethodDef* const tables[] = {sample_noop_methods, (PyMethodDef*)sample_constant_methods,
                                 sample_work_methods, sample_callback_methods,
                                 sample_later_methods};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    if (PyModule_AddFunctions(module, tables[i]) != 0) return -1;
  }
  return sample_add_types(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void*)execute},
#if PY_VERSION_HEX >= 0x030D0000
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};
static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "sample", .m_slots = slots};

PyMODINIT_FUNC PyInit_sample(void) { return PyModuleDef_Init(&definition); }
