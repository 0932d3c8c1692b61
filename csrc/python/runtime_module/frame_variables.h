/* The variables of the function, or of the script, that runs on the calling thread. */
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_FRAME_VARIABLES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_FRAME_VARIABLES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rlscope_frame_variables {
  const void* frame;
  const void* code;
  /* Of a function: words that are addresses of objects but for their lowest bits; 0: unbound. */
  const uintptr_t* fast;
  Py_ssize_t fast_count;
  /* Of a script: a dictionary by name, borrowed; null for a function. */
  PyObject* by_name;
};

/* Fills `variables` and returns 1. 0: no Python code runs, or where this release of CPython keeps
   it is not known. Runs no code of the program, and makes no object of a frame. */
int rlscope_find_variables(struct rlscope_frame_variables* variables);

#ifdef __cplusplus
}
#endif

#endif /* RLSCOPE_PYTHON_RUNTIME_MODULE_FRAME_VARIABLES_H_ */
