// How long each module took to import, and what asked for it.
//
// Modules are executed inside each other, on one thread each. What took 1 ms or more, with all that
// it imported, becomes a row; all others of a thread are summed. Rows are metadata of the process,
// written whenever an outermost import ends, so that a process that is killed keeps them.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_IMPORT_TIMES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_IMPORT_TIMES_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Around each call of a loader, with the GIL; the two match on every thread.
//
// `module`: one that is executed, or the spec of one that is made; null: not known.
// `is_annotated`: the program has opened an operation of its own by now. If it did so inside of a
// module, or `is_import` is false, the module did more than to be imported, and has no row.
// `counts`: imports of this process are written.
void BeginModule(PyObject* module, bool is_annotated);
void EndModule(bool is_import, bool is_annotated, bool counts);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_IMPORT_TIMES_H_
