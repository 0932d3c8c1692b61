// Compiled functions: what TensorFlow, JAX and PyTorch make of a Python function.
//
// A call of TensorFlow's or JAX's is an event of the automatic track, named after the function (C
// in automatic_track.h). TensorFlow's are objects of a Python class, whose __call__ is
// watched like any function. JAX's are objects of a C type that carry a vectorcall pointer of their
// own, which is replaced. JAX computes while the program goes on: a call that waits for a result is
// an event of the function that makes it (results.h).
//
// What torch.compile() makes is a Python function. Forwards of modules in there are compiled into
// it: no module is called. Whether there are any shows when TorchDynamo traces the code, in the
// middle of the first call; that call is a block of the track, which counts from its entry if it
// turns out to have a forward. Later calls know.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_COMPILED_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_COMPILED_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Makes calls of this object events, for as long as it lives. False: its type has no such pointer,
// or there are too many. Sets no Python error.
bool WatchCompiled(PyObject* function);

// Makes calls of what torch.compile() returned events; null, and what is no function, are fine.
// Sets no Python error and leaves a pending one alone.
void WatchTorchFunction(PyObject* function);

// TorchDynamo met the call of a module in the code that it traces, on this thread.
void NoteTracedModule();

// watch_compiled(function): WatchCompiled() as Python sees it.
PyObject* WatchCompiledFunction(PyObject* module, PyObject* function);

// watch_waiting(function): a function that waits for results of others, or the type of results.
PyObject* WatchWaitingFunction(PyObject* module, PyObject* object);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_COMPILED_H_
