#include "python/runtime_module/iterations.h"

#include "native_calls/owned.h"
#include "python/runtime_module/phase.h"
#include "runtime/rlscope.h"

namespace rlscope::python {

namespace {

// What follows the iterations of the process; owned, null: nothing does. The main interpreter sets
// it.
PyObject* follower = nullptr;

PyObject* Iteration(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  int automatic = 0;
  if (count > 1) {
    PyErr_SetString(PyExc_TypeError, "iteration takes at most one argument");
    return nullptr;
  }
  if (count == 1 && (automatic = PyObject_IsTrue(arguments[0])) < 0) return nullptr;
  int boundary = 0;
  InPhase(StateOf(module), [&] { boundary = rlscope_iteration(automatic); });
  if ((boundary & RLSCOPE_COUNTED) != 0 && !TellIteration()) return nullptr;
  return PyBool_FromLong(boundary & RLSCOPE_ENDS_PROGRAM);
}

PyObject* FollowIterations(PyObject*, PyObject* function) {
  Py_XSETREF(follower, function == Py_None ? nullptr : Py_NewRef(function));
  Py_RETURN_NONE;
}

PyObject* Hold(PyObject* module, PyObject* held) {
  const int wanted = PyObject_IsTrue(held);
  if (wanted < 0) return nullptr;
  InPhase(StateOf(module), [&] { rlscope_hold(wanted); });
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"iteration", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Iteration)),
     METH_FASTCALL, nullptr},
    {"follow_iterations", FollowIterations, METH_O, nullptr},
    {"hold", Hold, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool TellIteration() {
  if (follower == nullptr || PyInterpreterState_Get() != PyInterpreterState_Main()) return true;
  const native_calls::Owned function(Py_NewRef(follower));
  const native_calls::Owned done(PyObject_CallNoArgs(function.get()));
  return done.get() != nullptr;
}

void EndProgram() {
  const native_calls::Owned annotate(PyImport_ImportModule("rlscope.annotations.annotate"));
  if (!annotate) return;
  const native_calls::Owned done(PyObject_CallMethod(annotate.get(), "end_program", nullptr));
}

int AddIterations(PyObject* module) { return PyModule_AddFunctions(module, methods); }

}  // namespace rlscope::python
