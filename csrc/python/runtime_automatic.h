// Functions whose calls are events of the automatic track (runtime_automatic_track.h).
//
// Two ways to see the calls of a Python function. In place: the function's own vectorcall pointer
// is replaced; nothing that a program can look at changes. CPython 3.11 calls functions from Python
// code without looking at that pointer, so there it serves for functions that C code calls, and
// others are replaced by an object that stands for them.
#ifndef RLSCOPE_PYTHON_RUNTIME_AUTOMATIC_H_
#define RLSCOPE_PYTHON_RUNTIME_AUTOMATIC_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// One row per event: enumerator, name in Python.
#define RLSCOPE_AUTOMATIC_EVENTS(X)                                                           \
  X(kSimulation, "simulation")                                                                \
  X(kMixin, "mixin") /* simulation of an environment */                                       \
  X(kForward, "forward")                                                                      \
  X(kTapedForward, "taped forward") /* with gradients, if a tape is open */                   \
  X(kTapeEnter, "tape enter")                                                                 \
  X(kTapeExit, "tape exit")                                                                   \
  X(kBackward, "backward")                                                                    \
  X(kStep, "step")                                                                            \
  X(kBlockEnter, "block enter") /* of a no-grad block */                                      \
  X(kModeEnter, "mode enter")   /* if gradients are off */                                    \
  X(kBlockExit, "block exit")                                                                 \
  X(kConversion, "conversion") /* if its first argument is an observation */                  \
  X(kConnector, "connector")   /* a conversion, whatever its arguments are */                 \
  X(kCompiled, "compiled")     /* __call__(function, ...) */                                  \
  X(kGradients, "gradients")   /* are computed, or traced */                                  \
  X(kCompilation, "compilation")                                                              \
  X(kCompilationEnter, "compilation enter")                                                   \
  X(kCompilationExit, "compilation exit")   /* of its last phase */                           \
  X(kCompilationPause, "compilation pause") /* another one may follow */                      \
  X(kCompile, "compile")                    /* returns what TorchDynamo made of a function */ \
  X(kTracesModule, "traces module") /* TorchDynamo does, where a call would be a forward */   \
  X(kImport, "import")              /* exec_module(loader, module) of an import */            \
  X(kEvaluation, "evaluation")      /* of an agent */                                         \
  X(kUpdate, "update")              /* a part of one that its library makes apart */          \
  X(kSaving, "saving")                                                                        \
  X(kLoading, "loading")

enum class Event {
#define RLSCOPE_AUTOMATIC_EVENT(event, name) event,
  RLSCOPE_AUTOMATIC_EVENTS(RLSCOPE_AUTOMATIC_EVENT)
#undef RLSCOPE_AUTOMATIC_EVENT
};

// How calls reach a function: in place, or through an object that holds it. The first argument is
// the function or the object.
vectorcallfunc CallInPlace(Event event);
vectorcallfunc CallThroughObject(Event event);

// The vectorcall pointer of a plain Python function; set once, before the first function is
// changed.
extern vectorcallfunc plain_vectorcall;

// Gives a Python function another vectorcall pointer.
void SetVectorcall(PyObject* function, vectorcallfunc vectorcall);

// The object that stands for a function; its head is what CallThroughObject() needs.
struct StandInObject {
  PyObject ob_base;
  PyObject* function;
  vectorcallfunc call;  // of the function
  vectorcallfunc vectorcall;
  PyObject* weak_references;
};

// Its type, a new reference; null with a Python error set.
PyObject* NewStandInType(PyObject* module);
PyObject* NewStandIn(PyTypeObject* type, Event event, PyObject* function);

// A class of environments: a "mixin" counts where it is called on an object of one. False: there
// are too many.
bool AddEnvironments(PyTypeObject* root);
bool IsEnvironment(PyObject* object);

// Module name -> callable(module), called when that module was imported; borrowed for ever.
extern PyObject* import_handlers;

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_AUTOMATIC_H_
