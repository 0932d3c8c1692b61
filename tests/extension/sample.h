/* A native library as users have them, for the tests of interception: every way in which CPython
   reaches C code, and every way back. Nothing in it knows of rlscope. */
#ifndef RLSCOPE_TESTS_EXTENSION_SAMPLE_H_
#define RLSCOPE_TESTS_EXTENSION_SAMPLE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

/* METH_FASTCALL and the like have signatures of their own. */
#define AS_METHOD(function) ((PyCFunction)(void (*)(void))(function))

extern PyMethodDef sample_noop_methods[]; /* sample_noop.c: do nothing, one per METH_ kind */
extern const PyMethodDef sample_constant_methods[];
extern PyMethodDef sample_work_methods[];     /* sample_work.c: take time, fail, end */
extern PyMethodDef sample_callback_methods[]; /* sample_callback.c: call Python */
extern PyMethodDef sample_later_methods[];    /* sample_later.c: make functions at run time */

/* sample_types.c: adds Thing and Callable. 0 or -1. */
int sample_add_types(PyObject* module);

/* Runs the processor for that long, with the GIL. */
void sample_spin(double seconds);

#endif /* RLSCOPE_TESTS_EXTENSION_SAMPLE_H_ */
