// What the graph of a backward of PyTorch holds.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOGRAD_GRAPH_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOGRAD_GRAPH_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

// A thread numbers the nodes of its graphs as it makes them. The last one of a forward that
// returned this, 0 if it has none. Leaves a pending Python error alone, as the other one does.
uint64_t LastNodeOf(PyObject* result);

// Whether a backward from `outputs`, a tensor or a tuple of them, uses no node up to this one. A
// graph that is too large may use one.
bool IsGraphYoungerThan(uint64_t node, PyObject* outputs);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_AUTOGRAD_GRAPH_H_
