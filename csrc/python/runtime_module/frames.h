// Frames of the running thread.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_FRAMES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_FRAMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the thread's frames run, at most `most` of them, the innermost first; a borrowed reference
// each, also to what is no code. How many there are; 0 in an interpreter that is not known.
int rlscope_codes_of_thread(PyObject** codes, int most);

#ifdef __cplusplus
}
#endif

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_FRAMES_H_
